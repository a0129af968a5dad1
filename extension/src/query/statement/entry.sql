-- The entries in the rows. Of all entries that were ever seen, few are active in the window.
SELECT part.entry_id, entry.node AS entry_node@dimensions@
FROM (SELECT DISTINCT part.entry_id FROM part) part
LEFT JOIN jobstats.entries entry ON entry.entry_id = part.entry_id@names@
WHERE true@conditions@
