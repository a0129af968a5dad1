-- Per cluster, what was rejected in the last hour and names no target that is known. Whoever sends such text must not be
-- able to make series without end, so that the names of targets and of clusters without targets are not told.
SELECT c.cluster, count(r.cluster)::double precision AS rejects
FROM (SELECT DISTINCT t.cluster FROM jobstats.targets t UNION SELECT '') c
LEFT JOIN (
    SELECT CASE WHEN EXISTS (SELECT FROM jobstats.targets t WHERE t.cluster = r.cluster) THEN r.cluster ELSE '' END AS cluster
    FROM jobstats.rejects r
    WHERE r.received > now() - interval '1 hour'
        AND NOT EXISTS (SELECT FROM jobstats.targets t WHERE t.cluster = r.cluster AND t.name = r.target)
) r ON r.cluster = c.cluster
GROUP BY c.cluster
ORDER BY c.cluster
