jobstats.increments summed
JOIN (
    SELECT dirty.target_id, unnest(range_agg(@span@)) AS span
    FROM jobstats.dirty
    GROUP BY dirty.target_id
) changed ON changed.target_id = summed.target_id AND summed."time" > lower(changed.span) AND summed."time" <= upper(changed.span)
WHERE summed."time" <= @refreshed@
