-- The rows that reach into spans. OFFSET 0 keeps the search of each span by itself: otherwise the planner may run one search
-- for all spans, which reads everything between the first and the last.
SELECT usage.*, span.lower, span.upper, usage.since >= span.lower AND usage."time" <= span.upper AS inside,
    width_bucket(usage.since, @edges@) AS first_step,
    width_bucket(usage."time" - interval '1 microsecond', @edges@) AS last_step
FROM @spans@
CROSS JOIN LATERAL (
    @search@
    OFFSET 0
) usage
