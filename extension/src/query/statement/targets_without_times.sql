-- The targets in scope all of whose calls came without times. A target of another cluster than the unnamed one is shown with
-- its cluster.
WITH @observed@
SELECT concat_ws('/', nullif(target.cluster, ''), target.name) AS target
FROM (
    SELECT usage.target_id
    FROM (
        @usage@
    ) usage
    WHERE usage.target_id IN (SELECT unit.target_id FROM unit)
    GROUP BY usage.target_id
    HAVING bool_or(usage.value_0 IS NOT NULL) AND NOT bool_or(usage.value_1 IS NOT NULL)
) untimed
JOIN jobstats.targets target ON target.target_id = untimed.target_id
ORDER BY target.cluster, target.name
