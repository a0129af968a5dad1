-- What was done on a day of UTC, from after $1 up to $2, by whom, for which job; $3 and $4 are patterns. Users and groups have the names of
-- that day, and entries the job of that day: all of these change at midnight only. Each is joined once, so that memory of the server
-- does not grow with the rows. Slurm's state `CANCELLED by 1000` has the number of a user: only the state is kept.
SELECT done.since, done.until, done.last_active, done.resets,
    target.cluster, target.filesystem, target.kind, target.name AS target,
    entry.name AS entry, entry.status, entry.job, coalesce(entry.uid, run.uid) AS uid,
    coalesce(person.user_name, CASE WHEN entry.uid IS NULL THEN run.user_name END) AS user_name,
    coalesce(person.gid, CASE WHEN entry.uid IS NULL THEN run.gid END) AS gid,
    coalesce(team.group_name, CASE WHEN entry.uid IS NULL THEN run.group_name END) AS group_name,
    run.account, run.partition, run.job_name, split_part(run.state, ' by ', 1) AS state, entry.node, entry.executable, entry.pid,
    @columns@
FROM (
    @source@
) done
JOIN jobstats.targets target ON target.target_id = done.target_id
LEFT JOIN jobstats.entries entry ON entry.entry_id = done.entry_id
LEFT JOIN jobstats.entry_jobs belongs ON belongs.entry_id = done.entry_id AND belongs.valid_from < $2 AND belongs.valid_to >= $2
LEFT JOIN jobstats.job_ids run ON run.job_no = belongs.job_no
LEFT JOIN @users@ person ON person.uid = coalesce(entry.uid, run.uid)
LEFT JOIN @groups@ team ON team.gid = coalesce(person.gid, CASE WHEN entry.uid IS NULL THEN run.gid END)
WHERE ($3 IS NULL OR target.cluster LIKE $3) AND ($4 IS NULL OR target.filesystem LIKE $4)
