-- The time of the newest text of each scheduler's accounting. An index is searched for one scheduler after the other.
WITH RECURSIVE scheduler AS (
    (SELECT j.scheduler FROM jobstats.jobs j ORDER BY j.scheduler LIMIT 1)
    UNION ALL
    SELECT (SELECT j.scheduler FROM jobstats.jobs j WHERE j.scheduler > s.scheduler ORDER BY j.scheduler LIMIT 1)
    FROM scheduler s WHERE s.scheduler IS NOT NULL
)
SELECT s.scheduler, (extract(epoch FROM (
    SELECT j.updated FROM jobstats.jobs j WHERE j.scheduler = s.scheduler ORDER BY j.updated DESC LIMIT 1)) * 1000000)::bigint AS newest
FROM scheduler s WHERE s.scheduler IS NOT NULL
