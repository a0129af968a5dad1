-- The increments of the last hour of each observation in `last` (target_id, since, "time"). The spans of these observations
-- are merged and each merged span is scanned once: a scan per target would read the increments of a span as often as there are
-- targets in it. OFFSET 0 keeps the planner from reading all that is stored and joining it by hashing.
span AS MATERIALIZED (
    SELECT lower(s.span) AS since, upper(s.span) AS until
    FROM (SELECT unnest(range_agg(tstzrange(l.since, l."time", '(]'))) AS span FROM last l) s
),
work AS (
    SELECT i.*
    FROM span s
    CROSS JOIN LATERAL (
        SELECT * FROM jobstats.increments i WHERE i."time" > s.since AND i."time" <= s.until OFFSET 0
    ) i
    JOIN last l ON l.target_id = i.target_id AND i.observed = l."time" AND i."time" > l.since
)
