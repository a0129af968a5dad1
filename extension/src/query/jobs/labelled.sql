-- The jobs whose labels, but not whose numbers, match a pattern. The label of a single run is not that of its job if elements
-- of an array share the number.
SELECT DISTINCT job.job_no, job.job, job.label IS NULL AS is_array
FROM @runs@ run
JOIN jobstats.job_ids job ON job.scheduler = run.scheduler AND job.job = run.job
    AND run.started >= job.started AND run.started <= job.last_started
WHERE run.label LIKE @pattern@ AND NOT run.job LIKE @pattern@
