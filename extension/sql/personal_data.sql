-- What the store holds of a user, and how a user is forgotten.

CREATE FUNCTION jobstats_personal_data(uid bigint) RETURNS TABLE (
    relation text, "rows" bigint, first timestamptz, last timestamptz, columns text[], kept interval
)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
WITH number AS MATERIALIZED (
    SELECT jobstats_internal.jobs_of_user(jobstats_personal_data.uid) AS job_no
), mine AS MATERIALIZED (
    SELECT e.entry_id, e.first_seen
    FROM jobstats_internal.entries_of_user(jobstats_personal_data.uid, ARRAY(SELECT n.job_no FROM number n)) AS m (entry_id)
    JOIN jobstats.entries e ON e.entry_id = m.entry_id
), kept AS MATERIALIZED (
    SELECT jobstats_internal.people_kept_for() AS people, jobstats_internal.evidence_kept_for() AS evidence
)
SELECT h.relation, h.n, h.first, h.last, h.columns, h.kept
FROM jobstats.settings s
CROSS JOIN kept k
CROSS JOIN LATERAL (
    SELECT 1 AS number, 'users' AS relation, count(*) AS n, min(u.since) AS first, max(u.seen) AS last,
        ARRAY['uid', 'user_name', 'gid'] AS columns, NULL::interval AS kept
    FROM jobstats.users u WHERE u.uid = jobstats_personal_data.uid
    UNION ALL
    SELECT 2, 'earlier_users', count(*), min(u.since), max(u.until), '{uid,user_name,gid}', k.people
    FROM jobstats.earlier_users u WHERE u.uid = jobstats_personal_data.uid
    UNION ALL
    SELECT 3, 'entries', count(*), min(m.first_seen), NULL, '{name,job,uid,gid,node,executable,pid,claimed}', k.people FROM mine m
    UNION ALL
    SELECT 4, 'rollup_1d', count(*), min(r.first), max(r.last), '{entry_id}', k.people
    FROM mine m JOIN jobstats.rollup_1d r ON r.entry_id = m.entry_id
    UNION ALL
    SELECT 5, 'rollup_1d_users', count(*), min(r.first), max(r.last), '{uid,user_name,gid,group_name}', k.people
    FROM jobstats.rollup_1d_users r WHERE r.uid = jobstats_personal_data.uid
    UNION ALL
    SELECT 6, 'jobs', count(*), min(coalesce(j.submitted, j.started)), max(j.ended),
        '{job,label,uid,user_name,gid,group_name,account,job_name,node_list,extra}', least(k.people, s.jobs_retention)
    FROM jobstats.jobs j WHERE j.ctid = ANY (ARRAY(SELECT jobstats_internal.runs_of_user(jobstats_personal_data.uid)))
    UNION ALL
    SELECT 7, 'job_ids', count(*), min(i.started), max(i.ended), '{job,label,uid,user_name,gid,group_name,account,job_name}',
        least(k.people, s.jobs_retention)
    FROM jobstats.job_ids i JOIN number n ON n.job_no = i.job_no
    UNION ALL
    SELECT 8, 'job_summaries', count(*), min(d.started), max(d.ended), '{job,label,uid,user_name,gid,group_name,account,job_name}', k.people
    FROM jobstats.job_summaries d JOIN number n ON n.job_no = d.job_no
    UNION ALL
    SELECT 9, 'used', count(*), min(u.day)::timestamp AT TIME ZONE 'UTC', max(u.day)::timestamp AT TIME ZONE 'UTC', '{id}', k.people
    FROM jobstats.used u WHERE u.kind = 'user' AND u.id = jobstats_personal_data.uid
    UNION ALL
    SELECT 10, 'used_now', count(*), NULL, NULL, '{id}', NULL FROM jobstats.used_now u WHERE u.kind = 'user' AND u.id = jobstats_personal_data.uid
    UNION ALL
    SELECT 11, 'events', count(*), min(e.began), max(e.until), '{culprits}', least(k.people, s.events_retention)
    FROM jobstats.events e
    WHERE e.culprits -> 'subjects' @> jsonb_build_array(jsonb_build_object('uid', jobstats_personal_data.uid))
    UNION ALL
    SELECT 12, 'members', count(*), NULL, NULL, '{role,uid}', NULL FROM jobstats.members m WHERE m.uid = jobstats_personal_data.uid
    UNION ALL
    SELECT 13, 'managers', count(*), NULL, NULL, '{uid,account}', NULL FROM jobstats.managers m WHERE m.uid = jobstats_personal_data.uid
    UNION ALL
    SELECT 14, 'forgotten', count(*), NULL, max(f.until), '{uid}', NULL FROM jobstats.forgotten f WHERE f.uid = jobstats_personal_data.uid
    UNION ALL
    -- Nobody can look for one user in packed text.
    SELECT 15, 'raw', NULL, now() - s.raw_retention, NULL, '{body}', s.raw_retention
    UNION ALL
    SELECT 16, 'evidence', NULL, now() - k.evidence, NULL, '{body}', k.evidence
    UNION ALL
    SELECT 17, 'texts', NULL, now() - s.raw_retention, NULL, '{body}', s.raw_retention
    UNION ALL
    SELECT 18, 'rejects', NULL, now() - s.rejects_retention, NULL, '{text}', s.rejects_retention
) h
ORDER BY h.number
$$;
COMMENT ON FUNCTION jobstats_personal_data(bigint) IS
'Shows the data that the store holds of a user, by number. A row per table: the number of rows (NULL: packed text), their first and last time, the columns that identify the user, and how long they are retained (NULL: until deleted). Errors: 42501 not the owner of the store, 42P01 no store.';

CREATE FUNCTION jobstats_forget_user(uid bigint) RETURNS TABLE (trace text, "rows" bigint, gone timestamptz)
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
SELECT f.* FROM jsonb_to_recordset(jobstats_internal.as_owner(text 'forget', uid::text)::jsonb) AS f (trace text, "rows" bigint, gone timestamptz)
$$;
COMMENT ON FUNCTION jobstats_forget_user(bigint) IS
'Forgets a user, by number. Deletes names, and gives identifiers, jobs and sums of the user to a pseudonym; other sums stay exact. It cannot be undone. Shows what was changed, and when the last of it is gone. Errors: 22004 NULL, 22023 invalid or system user, 25006 on a standby, 42501, 55000 no store.';
