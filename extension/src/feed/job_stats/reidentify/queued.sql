-- Takes entries from the queue.
WITH taken AS (
    DELETE FROM jobstats.to_identify q
    WHERE q.ctid = ANY (ARRAY(SELECT t.ctid FROM jobstats.to_identify t LIMIT $1))
    RETURNING q.entry_id
)
SELECT e.entry_id, e.name, e.clusters
FROM jobstats.entries e
WHERE e.entry_id IN (SELECT t.entry_id FROM taken t) AND e.status <> text 'forgotten'
ORDER BY e.entry_id
