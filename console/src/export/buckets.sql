SELECT bucket.since, bucket.until, bucket.last AS last_active, bucket.resets, bucket.target_id, bucket.entry_id, @columns@
    FROM jobstats.increments_@level@ bucket
    WHERE bucket.bucket > $1 AND bucket.bucket <= $2
