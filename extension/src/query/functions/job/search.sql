-- The rows of the entries in spans of one source. OFFSET 0 keeps the search of each span by itself.
SELECT @source@ AS source, min(usage.first) AS first, max(usage.latest) AS latest
FROM unnest(@lower@, @upper@) span (lower, upper)
CROSS JOIN LATERAL (
    SELECT usage.@first@ AS first, usage.@time@ AS latest
    FROM jobstats.@relation@ usage
    WHERE usage.@time@ > span.lower AND usage.@time@ <= span.upper AND usage.entry_id = ANY (@entries@)
        AND usage.@time@ > @since@
    OFFSET 0
) usage
