-- One row per step, target and user. The rows are summed by entry first, so that few entries have to be looked up.
SELECT part.step, part.target_id, entry.uid, NULL::timestamptz AS observed@sums_of_parts@
FROM (
    SELECT usage.step, usage.target_id, usage.entry_id@sums_of_usage@
    FROM (
        @usage@
    ) usage
    GROUP BY usage.step, usage.target_id, usage.entry_id
) part
LEFT JOIN jobstats.entries entry ON entry.entry_id = part.entry_id
GROUP BY part.step, part.target_id, entry.uid
