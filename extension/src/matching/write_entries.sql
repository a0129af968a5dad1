-- Replaces the rows of these entries, where they differ, and returns the ranges in which entries have got another job.
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
), written AS (
    INSERT INTO jobstats.entry_jobs AS j (entry_id, valid_from, valid_to, job_no, status, alone)
    SELECT w.entry_id, w.valid_from, w.valid_to, w.job_no, w.status, w.alone FROM wanted w
    ON CONFLICT (entry_id, valid_from) DO UPDATE
    SET valid_to = excluded.valid_to, job_no = excluded.job_no, status = excluded.status, alone = excluded.alone
    WHERE (j.valid_to, j.job_no, j.status, j.alone) IS DISTINCT FROM (excluded.valid_to, excluded.job_no, excluded.status, excluded.alone)
), before AS (
    SELECT j.entry_id, j.job_no, range_agg(tstzrange(j.valid_from, j.valid_to)) AS days
    FROM jobstats.entry_jobs j
    WHERE j.entry_id = ANY ($1) AND j.job_no IS NOT NULL
    GROUP BY j.entry_id, j.job_no
), after AS (
    SELECT w.entry_id, w.job_no, range_agg(tstzrange(w.valid_from, w.valid_to)) AS days
    FROM wanted w
    WHERE w.job_no IS NOT NULL
    GROUP BY w.entry_id, w.job_no
)
SELECT c.entry_id, lower(c.days) AS since, upper(c.days) AS until
FROM (
    SELECT entry_id, unnest(coalesce(b.days - a.days, b.days, tstzmultirange()) + coalesce(a.days - b.days, a.days, tstzmultirange())) AS days
    FROM before b FULL JOIN after a USING (entry_id, job_no)
) c
