-- No bucket can have lost all its rows: a late reading only divides the increment of the next one.
INSERT INTO jobstats.@relation@ (bucket, target_id, observed_usecs, exports, resets@names@)
SELECT @bucket@, summed.target_id, sum(summed.observed_usecs)::bigint, max(summed.exports), @resets@@sums@
FROM jobstats.@source@ summed
WHERE summed.target_id = ANY ($1) AND summed.@time@ > $2 AND summed.@time@ <= $3
GROUP BY 1, 2
ON CONFLICT (target_id, bucket) DO UPDATE
SET (observed_usecs, exports, resets@names@) = (EXCLUDED.observed_usecs, EXCLUDED.exports, EXCLUDED.resets@excluded@)
