-- The usage with the dimensions of entries.
SELECT part.*@dimensions@
FROM part
JOIN entry ON entry.entry_id = part.entry_id@same_days@
