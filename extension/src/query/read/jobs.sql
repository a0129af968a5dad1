-- The jobs of entries ($1), or of all if that is NULL, on the days of a window ($2, $3].
SELECT held.entry_id, held.valid_from, held.valid_to, held.alone, held.job_no, job.uid, job.gid, job.account@columns@
FROM jobstats.entry_jobs held
LEFT JOIN jobstats.job_ids job ON job.job_no = held.job_no
WHERE ($1::bigint[] IS NULL OR held.entry_id = ANY ($1)) AND held.valid_to > $2 AND held.valid_from < $3
