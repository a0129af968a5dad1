-- The next entries in the order of their keys.
SELECT e.entry_id, e.name, e.clusters
FROM jobstats.entries e
WHERE ($1 IS NULL OR e.entry_id > $1) AND e.status <> text 'forgotten'
ORDER BY e.entry_id
LIMIT $2
