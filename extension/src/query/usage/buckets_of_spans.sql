-- OFFSET 0 keeps the search of each span by itself.
SELECT usage.*
FROM unnest(@lower@, @upper@) span (lower, upper)
CROSS JOIN LATERAL (
    SELECT * FROM jobstats.@relation@ usage
    WHERE usage.bucket > span.lower AND usage.bucket <= span.upper@condition@
        AND usage.bucket > @since@ AND usage.bucket <= @until@
    OFFSET 0
) usage
