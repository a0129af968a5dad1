-- The last observation of each target in scope, and whether the target is silent or late. A target of another cluster than
-- the unnamed one is shown with its cluster. Nobody waits for retired targets.
SELECT concat_ws('/', nullif(target.cluster, ''), target.name) AS target, pace.last_observation, pace.silent, pace.late
FROM (
    @pace@
) pace
JOIN jobstats.targets target ON target.target_id = pace.target_id
WHERE target.retired IS NULL@conditions@
ORDER BY pace.last_observation, target.cluster, target.name
