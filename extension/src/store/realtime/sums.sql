(
    SELECT i.bucket, i.target_id, e.uid@sums@
    FROM jobstats.increments_10m i
    LEFT JOIN jobstats.entries e ON e.entry_id = i.entry_id
    GROUP BY i.bucket, i.target_id, e.uid
)
