-- Queues the numbers of jobs of which only the name of the user is known, where getent has changed who has the name, or what the user of
-- an entry with the number is called.
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
