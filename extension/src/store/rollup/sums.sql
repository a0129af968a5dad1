SELECT @bucket@ AS bucket, summed.entry_id, summed.target_id, min(summed.@first@) AS first, max(@last@) AS last, @resets@ AS resets@columns@
FROM @rows@
GROUP BY 1, summed.entry_id, summed.target_id
