-- The entries of users who had several names in a window ($1, $2], and these users with no entry, with the ends of the days of each name.
WITH earlier AS (
    SELECT e.uid, e.until FROM jobstats.earlier_users e WHERE e.until > $1 AND e.until < $2
)
SELECT NULL::bigint AS entry_id, earlier.uid, earlier.until FROM earlier
UNION ALL
SELECT entry.entry_id, earlier.uid, earlier.until
FROM earlier
JOIN jobstats.entries entry ON entry.uid = earlier.uid
UNION ALL
SELECT entry.entry_id, earlier.uid, earlier.until
FROM earlier
JOIN jobstats.job_ids job ON job.uid = earlier.uid
JOIN jobstats.entry_jobs held ON held.job_no = job.job_no AND held.valid_from < $2 AND held.valid_to > $1
JOIN jobstats.entries entry ON entry.entry_id = held.entry_id AND entry.uid IS NULL
