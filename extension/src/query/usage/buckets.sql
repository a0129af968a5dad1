-- Buckets of a rollup, each of which lies inside of one step.
@whole@
FROM (
    SELECT usage.*, NULL::timestamptz AS observed
    FROM (
        @buckets@
    ) usage
) usage
