INSERT INTO jobstats.@users@ (bucket, uid, target_id, first, last, resets@names@@columns@)
SELECT summed.bucket, entry.uid, summed.target_id, min(summed.first), max(summed.last),
    sum(summed.resets)::bigint@totals@@sums@
FROM jobstats.@relation@ summed
LEFT JOIN jobstats.entries entry ON entry.entry_id = summed.entry_id
WHERE @condition@
GROUP BY 1, entry.uid, summed.target_id
