-- How many runs of each number are read, at most $2 of each scheduler.
SELECT n.job, coalesce((
    SELECT sum(least(c.runs, $2)) FROM (
        SELECT count(*) AS runs FROM jobstats.jobs j WHERE j.job = n.job AND j.started IS NOT NULL GROUP BY j.scheduler) c), 0)::bigint AS runs
FROM unnest($1::text[]) AS n (job)
ORDER BY n.job
