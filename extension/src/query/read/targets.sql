-- The targets in use.
SELECT target.target_id, target.cluster, target.filesystem, target.kind, target.name
FROM jobstats.targets target
WHERE target.retired IS NULL
