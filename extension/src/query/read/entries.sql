-- The identifiers of entries ($1).
SELECT entry.entry_id, entry.uid, entry.job, entry.node@columns@
FROM jobstats.entries entry
WHERE entry.entry_id = ANY ($1)
