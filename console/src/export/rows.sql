-- What was done on a day of UTC, from after $1 up to $2, by whom, for which job; $3 is a filter of targets. Users and groups have the
-- names of that day, and entries the job of that day: all of these change at midnight only. Each is joined once, so that memory of the
-- server does not grow with the rows.
SELECT done.since, done.until, done.@active@ AS last_active, done.resets,
    @targets@, @entries@,
    @columns@
FROM jobstats.@view@ done
JOIN jobstats_targets(filter => $3) target ON target.target_id = done.target_id
LEFT JOIN jobstats_internal.entries($2) entry ON entry.entry_id = done.entry_id
WHERE done.@time@ > $1 AND done.@time@ <= $2
