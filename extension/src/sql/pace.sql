-- Per target: when and where it was last observed, how often it usually is, whether it is silent. Lookups by key alone.
SELECT t.target_id, p.server, p.last_observation, p.usual_interval,
    now() - p.last_observation > greatest(3 * p.usual_interval, interval '10 minutes') AS silent
FROM jobstats.targets t
CROSS JOIN LATERAL (
    SELECT max(o."time") AS last_observation,
        (array_agg(o.server ORDER BY o."time" DESC))[1] AS server,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY o."time" - o.since) AS usual_interval
    FROM (
        SELECT o."time", o.since, o.server FROM jobstats.observations o
        WHERE o.target_id = t.target_id
        ORDER BY o."time" DESC LIMIT 10
    ) o
) p
WHERE p.last_observation IS NOT NULL
