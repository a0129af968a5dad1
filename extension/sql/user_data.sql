-- The rows of a user.

CREATE FUNCTION jobstats_internal.names_of_user(uid bigint) RETURNS TABLE (user_name text, since timestamptz, until timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
-- The first known name also counts for the time before it.
SELECT n.user_name, CASE WHEN lag(n.until) OVER (ORDER BY n.until) IS NULL THEN timestamptz '-infinity' ELSE n.since END, n.until
FROM (
    SELECT e.user_name, e.since, e.until FROM jobstats.earlier_users e WHERE e.uid = names_of_user.uid
    UNION ALL
    SELECT u.user_name, u.since, timestamptz 'infinity' FROM jobstats.users u WHERE u.uid = names_of_user.uid) n
UNION ALL
SELECT n.user_name, timestamptz '-infinity', timestamptz 'infinity'
FROM jobstats.forgotten f, unnest(f.user_names) AS n (user_name)
WHERE f.uid = names_of_user.uid
    AND NOT EXISTS (SELECT FROM jobstats.users u WHERE u.user_name = n.user_name AND u.uid <> f.uid)
    AND NOT EXISTS (SELECT FROM jobstats.earlier_users e WHERE e.user_name = n.user_name AND e.uid <> f.uid)
$$;
COMMENT ON FUNCTION jobstats_internal.names_of_user IS
'Internal: the current and former names of a user, each in [since, until); of a forgotten user, only names that no other user has or had.';

CREATE FUNCTION jobstats_internal.jobs_of_user(uid bigint) RETURNS SETOF bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT i.job_no FROM jobstats.job_ids i WHERE i.uid = jobs_of_user.uid
UNION
SELECT s.job_no FROM jobstats.job_summaries s WHERE s.uid = jobs_of_user.uid
UNION
SELECT j.job_no
FROM (
    SELECT i.job_no, i.user_name, i.started FROM jobstats.job_ids i WHERE i.uid IS NULL
    UNION ALL SELECT s.job_no, s.user_name, s.started FROM jobstats.job_summaries s WHERE s.uid IS NULL) j
JOIN jobstats_internal.names_of_user(jobs_of_user.uid) n ON n.user_name = j.user_name AND j.started >= n.since AND j.started < n.until
$$;
COMMENT ON FUNCTION jobstats_internal.jobs_of_user IS 'Internal: the keys of the jobs of a user, by number, or by a name that the user had then.';

CREATE FUNCTION jobstats_internal.runs_of_user(uid bigint) RETURNS SETOF tid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT j.ctid FROM jobstats.jobs j WHERE j.uid = runs_of_user.uid
UNION
SELECT j.ctid
FROM jobstats_internal.names_of_user(runs_of_user.uid) n
JOIN jobstats.jobs j ON j.uid IS NULL AND j.user_name = n.user_name
    AND coalesce(j.started, j.submitted, j.updated) >= n.since AND coalesce(j.started, j.submitted, j.updated) < n.until
$$;
COMMENT ON FUNCTION jobstats_internal.runs_of_user IS
'Internal: the rows of the runs of jobs of a user, by number, or by a name that the user had then.';

CREATE FUNCTION jobstats_internal.entries_of_user(uid bigint, numbers bigint[]) RETURNS SETOF bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
WITH job AS MATERIALIZED (
    SELECT n.job_no FROM unnest(numbers) n (job_no)
), matched AS MATERIALIZED (
    SELECT DISTINCT m.entry_id FROM job JOIN jobstats.entry_jobs m ON m.job_no = job.job_no
)
SELECT e.entry_id FROM jobstats.entries e WHERE e.uid = entries_of_user.uid
UNION
-- Entries of the system for these jobs, and entries without a number of a user.
SELECT m.entry_id FROM matched m JOIN jobstats.entries e ON e.entry_id = m.entry_id WHERE e.status <> 'forgotten'
EXCEPT
SELECT o.entry_id
FROM matched m
JOIN jobstats.entry_jobs o ON o.entry_id = m.entry_id AND o.job_no IS NOT NULL
JOIN jobstats.entries e ON e.entry_id = m.entry_id AND e.uid IS DISTINCT FROM entries_of_user.uid
LEFT JOIN job ON job.job_no = o.job_no
WHERE job.job_no IS NULL
$$;
COMMENT ON FUNCTION jobstats_internal.entries_of_user IS 'Internal: the entries of a user, and the entries of only these jobs of the user.';

CREATE FUNCTION jobstats_internal.jobs_of_others(entries bigint[], numbers bigint[], runs tid[]) RETURNS text[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
-- Entries are matched by the numbers of their jobs: entries that stay must find their job.
WITH entry AS MATERIALIZED (
    SELECT n.entry_id FROM unnest(entries) n (entry_id)
), number AS MATERIALIZED (
    SELECT n.job_no FROM unnest(numbers) n (job_no)
), own AS MATERIALIZED (
    SELECT e.job FROM entry JOIN jobstats.entries e ON e.entry_id = entry.entry_id WHERE e.job IS NOT NULL
    UNION
    SELECT j.job FROM number JOIN jobstats.job_ids j ON j.job_no = number.job_no
    UNION
    SELECT j.job FROM jobstats.jobs j WHERE j.ctid = ANY (runs)
)
SELECT coalesce(array_agg(o.job), '{}')
FROM (
    SELECT own.job
    FROM own JOIN jobstats.entries e ON e.job = own.job LEFT JOIN entry ON entry.entry_id = e.entry_id
    WHERE entry.entry_id IS NULL
    UNION
    SELECT own.job
    FROM own JOIN jobstats.job_ids j ON j.job = own.job LEFT JOIN number ON number.job_no = j.job_no
    WHERE number.job_no IS NULL) o
$$;
COMMENT ON FUNCTION jobstats_internal.jobs_of_others IS 'Internal: the numbers of these entries, jobs and runs that other entries or jobs have too.';

CREATE FUNCTION jobstats_internal.own_groups(uid bigint) RETURNS SETOF bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT g.gid
FROM (SELECT g.gid, g.group_name FROM jobstats.groups g UNION SELECT e.gid, e.group_name FROM jobstats.earlier_groups e) g
JOIN jobstats_internal.names_of_user(own_groups.uid) n ON n.user_name = g.group_name
WHERE NOT EXISTS (SELECT FROM jobstats.users u WHERE u.gid = g.gid AND u.uid <> own_groups.uid)
    AND (g.gid = own_groups.uid OR EXISTS (SELECT FROM jobstats.users u WHERE u.gid = g.gid AND u.uid = own_groups.uid))
UNION
SELECT unnest(f.gids) FROM jobstats.forgotten f WHERE f.uid = own_groups.uid
$$;
COMMENT ON FUNCTION jobstats_internal.own_groups IS
'Internal: the primary groups of only this user that have the user''s name; also of a forgotten user.';
