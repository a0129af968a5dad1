-- What the store holds of a user, and how a user is forgotten.

CREATE FUNCTION jobstats_personal_data(uid bigint) RETURNS TABLE (
    relation text, "rows" bigint, first timestamptz, last timestamptz, columns text[], kept interval
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    numbers bigint[] := ARRAY(SELECT jobstats_internal.jobs_of_user(uid));
    identified bigint[] := ARRAY(SELECT jobstats_internal.entries_of_user(uid, numbers));
    runs tid[] := ARRAY(SELECT jobstats_internal.runs_of_user(uid));
    people interval := jobstats_internal.people_kept_for();
    setting jobstats.settings;
    it record;
BEGIN
    SELECT * INTO STRICT setting FROM jobstats.settings s;
    FOR it IN
        SELECT t.*, ARRAY(
            SELECT p."column" FROM jobstats_internal.columns_of_people() p
            JOIN pg_attribute a ON a.attrelid = format('jobstats.%I', t.name)::regclass AND a.attname = p."column"
            WHERE p.relation = t.name AND p.holds NOT IN ('trace', 'note') ORDER BY a.attnum) AS columns
        FROM (VALUES
            ('users', 'r.uid = $1', 'min(r.since)', 'max(r.seen)', NULL::interval),
            ('earlier_users', 'r.uid = $1', 'min(r.since)', 'max(r.until)', people),
            ('entries', 'r.entry_id = ANY ($2)', 'min(r.first_seen)', 'NULL', people),
            ('rollup_1d', 'r.entry_id = ANY ($2)', 'min(r.first)', 'max(r.last)', people),
            ('rollup_1d_users', 'r.uid = $1', 'min(r.first)', 'max(r.last)', people),
            ('jobs', 'r.ctid = ANY ($4)', 'min(coalesce(r.submitted, r.started))', 'max(r.ended)', least(people, setting.jobs_retention)),
            ('job_ids', 'r.job_no = ANY ($3)', 'min(r.started)', 'max(r.ended)', least(people, setting.jobs_retention)),
            ('job_summaries', 'r.job_no = ANY ($3)', 'min(r.started)', 'max(r.ended)', people),
            ('used', 'r.kind = ''user'' AND r.id = $1', 'min(r.day)::timestamp AT TIME ZONE ''UTC''', 'max(r.day)::timestamp AT TIME ZONE ''UTC''', people),
            ('used_now', 'r.kind = ''user'' AND r.id = $1', 'NULL', 'NULL', NULL),
            ('events', 'r.culprits -> ''subjects'' @> jsonb_build_array(jsonb_build_object(''uid'', $1))', 'min(r.began)', 'max(r.until)',
                least(people, setting.events_retention)),
            ('members', 'r.uid = $1', 'NULL', 'NULL', NULL),
            ('managers', 'r.uid = $1', 'NULL', 'NULL', NULL),
            ('forgotten', 'r.uid = $1', 'NULL', 'max(r.until)', NULL)
        ) AS t (name, own, first, last, kept)
    LOOP
        RETURN QUERY EXECUTE format('SELECT %1$L, count(*), (%2$s)::timestamptz, (%3$s)::timestamptz, $5, $6 FROM jobstats.%1$I r WHERE %4$s',
            it.name, it.first, it.last, it.own) USING uid, identified, numbers, runs, it.columns::text[], it.kept;
    END LOOP;
    -- Text cannot be searched for one user.
    RETURN QUERY
    SELECT t.relation, NULL::bigint, now() - t.kept, NULL::timestamptz, t.columns, t.kept
    FROM (
        SELECT p.relation, array_agg(p."column" ORDER BY p.number) AS columns, min(p.number) AS number,
            CASE p.reason WHEN 'evidence_retention' THEN jobstats_internal.evidence_kept_for() ELSE (to_jsonb(setting) ->> p.reason)::interval END AS kept
        FROM jobstats_internal.columns_of_people() WITH ORDINALITY AS p (relation, "column", holds, becomes, reason, number)
        WHERE p.holds IN ('raw text', 'note')
        GROUP BY p.relation, p.reason) t
    ORDER BY t.number;
END
$$;
COMMENT ON FUNCTION jobstats_personal_data IS
'Shows the data that the store holds about the user with this uid. A row per table: the number of rows (NULL: text), their first and last time, the columns that identify the user, and how long they are retained (NULL: until deleted). Errors: 42501 not the owner of the store, 42P01 no store.';

CREATE FUNCTION jobstats_forget_user(uid bigint) RETURNS TABLE (trace text, "rows" bigint, gone timestamptz)
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
SELECT f.* FROM jsonb_to_recordset(jobstats_internal.as_owner(text 'forget', uid::text)::jsonb) AS f (trace text, "rows" bigint, gone timestamptz)
$$;
COMMENT ON FUNCTION jobstats_forget_user IS
'Forgets the user with this uid. Deletes names and gives identifiers, jobs and sums of the user to a pseudonym; other sums stay exact. It cannot be undone. Shows what changed, and when the last of it is gone. Errors: 22004 NULL, 22023 invalid or system user, 25006 on a standby, 42501, 55000 no store.';
