-- The last-ending maintenance window in which an event of a file system ($2, $3) was found ($1).
SELECT w.until, 'A maintenance window covers it' || coalesce(': ' || nullif(w.reason, ''), '') || '.' AS reason
FROM jobstats.windows w
WHERE w.since <= $1 AND w.until > $1 AND (w.cluster IS NULL OR $2 LIKE ANY (jobstats_internal.as_like(ARRAY[w.cluster])))
    AND (w.filesystem IS NULL OR $3 LIKE ANY (jobstats_internal.as_like(ARRAY[w.filesystem])))
ORDER BY w.until DESC
LIMIT 1
