-- What was done on a day of UTC, from after $1 up to $2, by whom, for which job; $3 is a filter of targets. Users and groups have the
-- names of that day, and entries the job of that day: all of these change at midnight only. Each is joined once, so that memory of the
-- server does not grow with the rows. Slurm's state `CANCELLED by 1000` has the number of a user: only the state is kept.
SELECT done.since, done.until, done.@active@ AS last_active, done.resets, target.cluster, target.filesystem, target.kind, target.target,
    entry.entry, entry.status, entry.job, entry.uid, entry.user_name, entry.gid, entry.group_name, entry.account, entry.partition,
    entry.job_name, split_part(entry.state, text ' by ', 1) AS state, entry.node, entry.executable, entry.pid, @columns@
FROM jobstats.@view@ done
JOIN jobstats_targets(filter => $3) target ON target.target_id = done.target_id
LEFT JOIN jobstats_internal.entries($2) entry ON entry.entry_id = done.entry_id
WHERE done.@time@ > $1 AND done.@time@ <= $2
