-- What each entry did on targets ($2) in a bucket of a rollup ($1).
SELECT i.target_id, i.entry_id, ARRAY[@columns@] AS totals
FROM jobstats.@view@ i
WHERE i.bucket = $1 AND i.target_id = ANY ($2)
