-- Targets by name. Of how long they were observed says nothing here: what is attributed has no rates.
SELECT t.target_id, t.cluster, t.filesystem, t.kind, t.name AS target, NULL::bigint[] AS observed
FROM jobstats.targets t
ORDER BY t.cluster, t.filesystem, t.kind, t.name
