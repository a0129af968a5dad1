SELECT @bucket@ AS bucket, summed.entry_id, summed.target_id, min(summed.first) AS first, max(summed.last) AS last,
    sum(summed.resets)::bigint AS resets@columns@
FROM @rows@
GROUP BY 1, summed.entry_id, summed.target_id
