-- The number of groups per step that have a rate in each bucket.
SELECT density.step, bucket.bucket, bucket.lower, bucket.upper, bucket.count
FROM (
    SELECT groups.step, @schema@.jobstats_density_agg(groups.rate_0, @base@) AS density
    FROM (
        @groups@
    ) groups
    WHERE groups.rate_0 > 0
    GROUP BY groups.step
) density
CROSS JOIN LATERAL @schema@.jobstats_density_buckets(density.density) bucket
