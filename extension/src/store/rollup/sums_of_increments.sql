SELECT @bucket@ AS bucket, summed.entry_id, summed.target_id, min(summed.since) AS first,
    max(CASE WHEN summed.last_active > summed.since AND summed.last_active < summed."time"
        THEN summed.last_active ELSE summed."time" END) AS last,
    count(*) FILTER (WHERE summed.reset) AS resets@columns@
FROM @rows@
GROUP BY 1, summed.entry_id, summed.target_id
