-- The last observation of each target in scope, its server and usual interval in microseconds, and whether the target is silent or
-- late. A target or server of another cluster than the unnamed one is shown with its cluster. Nobody waits for retired targets.
SELECT concat_ws('/', nullif(target.cluster, ''), target.name) AS target, concat_ws('/', nullif(target.cluster, ''), pace.server) AS server,
    pace.last_observation, (extract(epoch FROM pace.usual_interval) * 1000000)::bigint AS usual_interval, pace.silent, pace.late
FROM (
    @pace@
) pace
JOIN jobstats.targets target ON target.target_id = pace.target_id
WHERE target.retired IS NULL@conditions@
ORDER BY pace.last_observation, target.cluster, target.name
