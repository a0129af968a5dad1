-- The buckets of a rollup as rows that a span may divide.
SELECT usage.*, NULL::timestamptz AS observed, usage.bucket - interval '1 microsecond' AS since,
    usage.bucket + (interval '@width@' - interval '1 microsecond') AS "time"
FROM jobstats.@relation@ usage
WHERE usage.bucket > span.lower - interval '@width@' + interval '1 microsecond' AND usage.bucket <= span.upper@condition@
    AND usage.bucket > @since@ - interval '@width@' AND usage.bucket <= @until@
