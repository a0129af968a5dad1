-- The formats of the store in the order in which they are tried, as jobstats.identification keeps them.
SELECT coalesce(jsonb_agg(jsonb_build_array(c.format, c.node_label, c.cluster, c.node_pattern) ORDER BY c.priority), '[]') AS formats
FROM jobstats.entry_formats c
