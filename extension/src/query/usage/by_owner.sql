-- Rows with owners in place of entries. The rows are summed by entry first, so that few entries have to be looked up.
SELECT part.step, part.target_id@owner@, NULL::timestamptz AS observed@at@@values@
FROM (
    SELECT usage.step, usage.target_id, usage.entry_id@of_day@@sums@
    FROM (
        @usage@
    ) usage
    GROUP BY usage.step, usage.target_id, usage.entry_id@key@
) part
LEFT JOIN jobstats.entries entry ON entry.entry_id = part.entry_id
@jobs@
