-- The number of the newest job with a label, unless the label is itself a number in job_stats.
SELECT run.job, job.label IS NULL AS is_array
FROM jobstats.jobs run
JOIN jobstats.job_ids job ON job.scheduler = run.scheduler AND job.job = run.job
    AND run.started >= job.started AND run.started <= job.last_started
WHERE run.label LIKE $2 AND run.job <> $1
    AND NOT EXISTS (SELECT FROM jobstats.entries entry WHERE entry.job = $1)
ORDER BY run.started DESC
LIMIT 1
