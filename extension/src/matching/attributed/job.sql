-- The user of a job, and the span in which it may have worked, according to rollups.
SELECT i.uid, greatest(i.started, $2) AS since, least(coalesce(i.ended, l.refreshed), l.refreshed, $3) AS until
FROM jobstats.job_ids i
CROSS JOIN jobstats.rollups l
WHERE i.job_no = $1 AND i.uid IS NOT NULL AND l.level = '10m'
    AND greatest(i.started, $2) < least(coalesce(i.ended, l.refreshed), l.refreshed, $3)
