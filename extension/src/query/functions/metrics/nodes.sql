-- Whether nodes of a front answer; fails: questions that need this one fail.
SELECT f.family, '' AS cluster, '' AS filesystem, '' AS kind, '' AS target, '' AS server, '' AS reader, '' AS service, '' AS policy, '' AS rule,
    '' AS severity, n.name AS node, coalesce(n.version, '') AS version, f.value, n.problem IS NOT NULL AND n.left_out_since IS NULL AS fails
FROM jobstats_internal.nodes_of_front() n
CROSS JOIN LATERAL (VALUES ('jobstats_node_up', (n.problem IS NULL)::integer::double precision),
    ('jobstats_node_age_seconds', extract(epoch FROM now() - n.last_observation)::double precision)
) AS f (family, value)
WHERE f.value IS NOT NULL
ORDER BY node
