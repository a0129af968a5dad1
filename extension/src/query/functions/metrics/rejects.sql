-- Per cluster, the rejects of the last hour without a known target. Their names of targets and unknown clusters are left out, so
-- that a sender cannot create series without end.
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
