-- Replaces the rows of these entries, where they differ.
WITH wanted AS (
    SELECT w.entry_id, w.job_no, w.status, w.alone,
        timestamptz 'epoch' + w.first_day * interval '24 hours' AS valid_from,
        coalesce(timestamptz 'epoch' + w.last_day * interval '24 hours', timestamptz 'infinity') AS valid_to
    FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::boolean[])
        AS w (entry_id, first_day, last_day, job_no, status, alone)
), gone AS (
    DELETE FROM jobstats.entry_jobs j
    WHERE j.entry_id = ANY ($1) AND NOT EXISTS (
        SELECT FROM wanted w WHERE w.entry_id = j.entry_id AND w.valid_from = j.valid_from)
)
INSERT INTO jobstats.entry_jobs AS j (entry_id, valid_from, valid_to, job_no, status, alone)
SELECT w.entry_id, w.valid_from, w.valid_to, w.job_no, w.status, w.alone FROM wanted w
ON CONFLICT (entry_id, valid_from) DO UPDATE
SET valid_to = excluded.valid_to, job_no = excluded.job_no, status = excluded.status, alone = excluded.alone
WHERE (j.valid_to, j.job_no, j.status, j.alone) IS DISTINCT FROM (excluded.valid_to, excluded.job_no, excluded.status, excluded.alone)
