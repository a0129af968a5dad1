-- When entries of a user were active on compute nodes without a job: at most $4 buckets that lie in the span. A node that no pattern
-- names is a compute node if accounting says that a job ran there.
SELECT DISTINCT e.entry_id, e.node, (extract(epoch FROM r.bucket) * 1000000)::bigint - 1 AS since
FROM (
    SELECT e.entry_id, split_part(e.node, text '.', 1) AS node FROM jobstats.entries e
    WHERE e.uid = $1 AND e.job IS NULL AND e.node IS NOT NULL
) e
LEFT JOIN LATERAL (
    SELECT k.class FROM jobstats.nodes k WHERE e.node LIKE k.pattern ORDER BY length(k.pattern) DESC, k.pattern LIMIT 1
) k ON true
JOIN jobstats.rollup_10m r ON r.entry_id = e.entry_id AND r.bucket > $2 AND r.bucket <= $3 - interval '10 minutes' + interval '1 microsecond'
WHERE coalesce(k.class, 'compute') = 'compute'
ORDER BY 1, 3
LIMIT $4
