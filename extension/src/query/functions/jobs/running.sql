-- The numbers of the jobs that ran in a window and are not summed up, the newest ones, and the start of the first.
SELECT array_agg(DISTINCT job.job) AS jobs, min(job.started) AS since
FROM (
    SELECT job.job, job.started
    FROM @jobs@ job
    LEFT JOIN jobstats.users person ON person.uid = job.uid@names@
    WHERE job.started <= @until@ AND coalesce(job.ended, timestamptz 'infinity') > @since@@conditions@
        AND NOT EXISTS (SELECT FROM jobstats.job_summaries done WHERE @done@)
    ORDER BY job.started DESC
    LIMIT 1000
) job
