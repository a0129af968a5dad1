-- What each entry did on targets ($2) in a bucket ($1).
SELECT summed.target_id, summed.entry_id, @columns@
FROM jobstats.@view@ summed
WHERE summed.bucket = $1 AND ($2 IS NULL OR summed.target_id = ANY ($2))
