-- The runs of a job by its number or label, and of all elements of an array by the array's number, the newest first. Labels have an index;
-- those of elements begin with the number of the array.
SELECT run.scheduler, run.job, run.label, run.parent, run.submitted, run.started, run.ended, run.uid,
    coalesce(person.user_name, run.user_name) AS user_name, run.account, run."partition", run.job_name, run.state, run.exit_code,
    run.nodes, run.cpus,
    -- A run that nobody has named for two days is lost, and what ended a day ago and is not summed up will not be. Elements that wait together
    -- have one label with their numbers in brackets, also when they have begun.
    (run.started IS NOT NULL OR run.ended IS NULL) AND run.label NOT LIKE '%\_[%'
        AND coalesce(run.ended > now() - interval '1 day', run.updated > now() - interval '2 days')
        AND NOT EXISTS (
            SELECT FROM jobstats.job_summaries summary
            WHERE summary.job = run.job AND summary.scheduler = run.scheduler AND summary.ended >= run.ended) AS to_come
FROM @jobs@ run
LEFT JOIN jobstats.users person ON person.uid = run.uid
WHERE (run.job = $1 OR run.label = $1 OR run.label ^@ rtrim($1, '[]') AND run.parent IN ($1, $1 || '[]'))
    AND ($2 IS NULL OR run.ended IS NULL OR run.ended > $2) AND ($3 IS NULL OR run.started <= $3)
    AND ($4 IS NULL OR run.scheduler = $4)
ORDER BY run.started DESC NULLS LAST
LIMIT 10000
