-- The days on which entries belong to a job that begin or end in a window ($1, $2]: of entries with several jobs, or of all ($3), or of these ($4).
SELECT held.entry_id, held.valid_from, held.valid_to
FROM jobstats.entry_jobs held
WHERE held.valid_to > $1 AND held.valid_from < $2 AND (held.valid_from > $1 OR held.valid_to < $2) AND ($3 OR NOT held.alone) AND ($4::bigint[] IS NULL OR held.entry_id = ANY ($4))
