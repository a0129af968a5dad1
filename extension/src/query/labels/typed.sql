-- How users type jobs that the store has by another number, such as elements of arrays; not where several jobs have had the number.
SELECT job.job, min(job.label) AS label
FROM jobstats.job_ids job
WHERE job.job = ANY ($1) AND job.label IS NOT NULL
GROUP BY job.job
HAVING min(job.label) = max(job.label) AND min(job.label) <> job.job
