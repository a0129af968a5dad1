-- Queues the numbers of jobs that are known only by user name, where getent has changed the user of the name, or the name of
-- the user of an entry with the number.
WITH renamed AS (
    DELETE FROM jobstats.to_resolve r RETURNING r.uid, r.user_name
)
INSERT INTO jobstats.to_match (job)
SELECT j.job
FROM renamed r
JOIN jobstats.jobs j ON j.user_name = r.user_name AND j.uid IS NULL
UNION
SELECT j.job
FROM renamed r
JOIN jobstats.entries e ON e.uid = r.uid
JOIN jobstats.jobs j ON j.job IN (e.job, e.claimed) AND j.uid IS NULL
