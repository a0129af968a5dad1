-- The sums by step, target and the dimensions of entries. Each node is counted once per group of units, in the row of one of
-- these units, so that the counts can be summed.
SELECT @key@@sums@, 0 AS nodes
FROM part
JOIN entry ON entry.entry_id = part.entry_id@same_days@
GROUP BY @key@
UNION ALL
SELECT node.step, min(node.target_id)@of_group@@no_sums@, NULL, NULL, count(*)
FROM (
    SELECT part.step, min(part.target_id) AS target_id, unit.unit_group@of_node@
    FROM part
    JOIN entry ON entry.entry_id = part.entry_id@same_days@
    JOIN unit ON @same_unit@
    WHERE entry.entry_node IS NOT NULL
    GROUP BY part.step, unit.unit_group@of_node@, entry.entry_node
) node
GROUP BY node.step, node.unit_group@of_group@
