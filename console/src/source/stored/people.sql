-- Whose entries these are ($1) at a time ($2): user and account as in the view jobstats.rates, with the name that the user had then.
SELECT e.entry_id, e.name, e.job, e.node, e.executable, coalesce(e.uid, job.uid) AS uid, job.account,
    coalesce(person.user_name, job.user_name) AS user_name
FROM jobstats.entries e
LEFT JOIN LATERAL (
    SELECT known.account, CASE WHEN e.uid IS NULL THEN known.uid END AS uid,
        CASE WHEN e.uid IS NULL THEN known.user_name END AS user_name
    FROM jobstats.entry_jobs belongs
    JOIN jobstats.job_ids known ON known.job_no = belongs.job_no
    WHERE belongs.entry_id = e.entry_id AND belongs.valid_from < $2 AND belongs.valid_to >= $2
    LIMIT 1
) job ON true
LEFT JOIN LATERAL (
    SELECT known.user_name FROM @users@ known WHERE known.uid = coalesce(e.uid, job.uid)
) person ON true
WHERE e.entry_id = ANY ($1)
