SELECT @bucket@ AS bucket, summed.entry_id, summed.target_id, min(summed.since) AS first,
    max(least(summed.last_active, summed."time")) AS last,
    count(*) FILTER (WHERE summed.reset) AS resets@columns@
FROM @rows@
GROUP BY 1, summed.entry_id, summed.target_id
