-- What the store has of targets whose names match the patterns $1 and $2: since when it keeps what the level ($3) is made of, the first
-- observation, and the time up to which all targets that still report have been observed.
SELECT now() AS now, kept.since AS kept, known.first, known.targets, reporting.until AS observed
FROM (
    SELECT refresh.dropped AS since FROM jobstats.refresh WHERE $3 = 'increments'
    UNION ALL
    SELECT rollup.dropped FROM jobstats.rollups rollup WHERE rollup.level = $3
) kept
CROSS JOIN (
    SELECT count(*) AS targets, min(least(observation.first, span.first)) AS first
    FROM jobstats.targets target
    LEFT JOIN LATERAL (
        SELECT o."time" AS first FROM jobstats.observations o WHERE o.target_id = target.target_id ORDER BY o."time" LIMIT 1
    ) observation ON true
    LEFT JOIN LATERAL (
        SELECT s.since AS first FROM jobstats.observed s
        WHERE s.target_id = target.target_id AND $3 <> 'increments' ORDER BY s.until LIMIT 1
    ) span ON true
    WHERE ($1 IS NULL OR target.cluster LIKE $1) AND ($2 IS NULL OR target.filesystem LIKE $2)
) known
CROSS JOIN (
    SELECT min(health.last_observation) AS until
    FROM jobstats.health
    JOIN jobstats.targets target ON target.cluster = health.cluster AND target.name = health.target
    WHERE health.status NOT IN ('silent', 'retired')
        AND ($1 IS NULL OR target.cluster LIKE $1) AND ($2 IS NULL OR target.filesystem LIKE $2)
) reporting
