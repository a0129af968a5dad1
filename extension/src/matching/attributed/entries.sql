-- The entries of a user without a job on compute nodes, at most $2. A node without a pattern is a compute node if a job ran
-- there. Classes are read once: a front would query them for each entry.
WITH class AS MATERIALIZED (
    SELECT k.pattern, jobstats_internal.as_like(ARRAY[k.pattern]) AS fits, k.class FROM jobstats.nodes k
)
SELECT e.entry_id, e.node
FROM (
    SELECT e.entry_id, split_part(e.node, text '.', 1) AS node FROM jobstats.entries e
    WHERE e.uid = $1 AND e.job IS NULL AND e.claimed IS NULL AND e.node IS NOT NULL
) e
LEFT JOIN LATERAL (
    SELECT k.class FROM class k WHERE e.node LIKE ANY (k.fits) ORDER BY length(k.pattern) DESC, k.pattern LIMIT 1
) k ON true
WHERE coalesce(k.class, 'compute') = 'compute'
LIMIT $2
