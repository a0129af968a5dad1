-- The entries in the rows. Of all entries that were ever seen, few are active in the window.
--
-- CASE hides the filters from the planner, which knows too little about patterns: where it expects a single entry, it would look
-- at all rows for each entry.
SELECT part.entry_id@days@@node@@dimensions@
FROM (
    SELECT DISTINCT part.entry_id@days@ FROM part
    @expected@
) part
LEFT JOIN jobstats.entries entry ON entry.entry_id = part.entry_id
@jobs@@names@
WHERE CASE WHEN true@conditions@ THEN true END@as_before@
