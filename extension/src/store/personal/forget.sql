-- Takes from the store who somebody was, and leaves what was done: sums by target, account and partition stay what they are.

CREATE FUNCTION jobstats_internal.names_of_user(uid bigint) RETURNS TABLE (user_name text, since timestamptz, until timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
-- The first name that is known counts for all time before.
SELECT n.user_name, CASE WHEN lag(n.until) OVER (ORDER BY n.until) IS NULL THEN timestamptz '-infinity' ELSE n.since END, n.until
FROM (
    SELECT e.user_name, e.since, e.until FROM jobstats.earlier_users e WHERE e.uid = names_of_user.uid
    UNION ALL
    SELECT u.user_name, u.since, timestamptz 'infinity' FROM jobstats.users u WHERE u.uid = names_of_user.uid) n
$$;
COMMENT ON FUNCTION jobstats_internal.names_of_user(bigint) IS
'Internal: the names that a user has and had, each in [since, until).';

CREATE FUNCTION jobstats_internal.jobs_of_others(entries bigint[], numbers bigint[]) RETURNS text[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
-- Entries are matched by the numbers of their jobs. What stays must find its job.
SELECT coalesce(array_agg(t.job), '{}')
FROM (
    SELECT e.job FROM jobstats.entries e JOIN unnest(entries) f (entry_id) ON f.entry_id = e.entry_id WHERE e.job IS NOT NULL
    UNION
    SELECT j.job FROM jobstats.job_ids j JOIN unnest(numbers) f (job_no) ON f.job_no = j.job_no) t
WHERE EXISTS (
        SELECT FROM jobstats.entries e
        WHERE e.job = t.job AND NOT EXISTS (SELECT FROM unnest(entries) f (entry_id) WHERE f.entry_id = e.entry_id))
    OR EXISTS (
        SELECT FROM jobstats.job_ids j
        WHERE j.job = t.job AND NOT EXISTS (SELECT FROM unnest(numbers) f (job_no) WHERE f.job_no = j.job_no))
$$;
COMMENT ON FUNCTION jobstats_internal.jobs_of_others(bigint[], bigint[]) IS
'Internal: the numbers of jobs, of those that these entries and jobs have, that other entries or jobs have too.';

CREATE FUNCTION jobstats_internal.forget_entries(entries bigint[], kept text[], for_ever boolean) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
UPDATE jobstats.entries e
SET name = f.name, job = f.job, uid = jobstats_internal.pseudonym_of_user(e.uid, NULL), gid = NULL, node = NULL, executable = NULL,
    pid = NULL, format = NULL, status = text 'forgotten', workload = coalesce(f.job, f.name)
FROM (
    SELECT e.entry_id, CASE WHEN e.job = ANY (kept) THEN e.job ELSE jobstats_internal.pseudonym(e.job) END AS job,
        CASE WHEN for_ever THEN jobstats_internal.pseudonym(e.name) ELSE 'pseudonym:' || lpad(to_hex(e.entry_id), 16, '0') END AS name
    FROM jobstats.entries e
    WHERE e.entry_id = ANY (entries)
    ORDER BY e.entry_id
    FOR NO KEY UPDATE) f
WHERE e.entry_id = f.entry_id
$$;
COMMENT ON FUNCTION jobstats_internal.forget_entries(bigint[], text[], boolean) IS
'Internal: takes from entries whose they are. for_ever: what an identifier does from now on goes to its forgotten entry, too; otherwise to a new one. Numbers of jobs that are kept are those of others, too.';

CREATE FUNCTION jobstats_internal.forget_jobs(numbers bigint[], runs tid[], kept text[], uid bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    -- A text of accounting may have brought back what was forgotten before.
    DELETE FROM jobstats.jobs old
    USING jobstats.jobs new
    WHERE new.ctid = ANY (runs) AND old.ctid <> new.ctid AND old.scheduler = new.scheduler
        AND old.job = jobstats_internal.pseudonym(new.job) AND old.label = jobstats_internal.pseudonym(new.label)
        AND (old.submitted, old.started) IS NOT DISTINCT FROM (new.submitted, new.started);
    WITH again AS (
        DELETE FROM jobstats.job_ids new
        USING jobstats.job_ids old
        WHERE new.job_no = ANY (numbers) AND old.job_no <> new.job_no AND old.scheduler = new.scheduler AND old.started = new.started
            AND old.job = jobstats_internal.pseudonym(new.job)
            AND NOT EXISTS (SELECT FROM jobstats.entry_jobs m WHERE m.job_no = new.job_no)
        RETURNING new.job_no
    ), unsummarized AS (
        DELETE FROM jobstats.job_summaries s USING again a WHERE s.job_no = a.job_no
    )
    DELETE FROM jobstats.to_summarize s USING again a WHERE s.job_no = a.job_no;
    UPDATE jobstats.jobs j
    SET job = CASE WHEN j.job = ANY (kept) THEN j.job ELSE jobstats_internal.pseudonym(j.job) END, label = jobstats_internal.pseudonym(j.label),
        uid = jobstats_internal.pseudonym_of_user(coalesce(forget_jobs.uid, j.uid), j.user_name), user_name = NULL, gid = NULL, group_name = NULL,
        job_name = NULL, node_list = NULL, parent = jobstats_internal.pseudonym(j.parent), extra = NULL, provenance = NULL
    WHERE j.ctid = ANY (runs);
    UPDATE jobstats.job_ids j
    SET job = CASE WHEN j.job = ANY (kept) THEN j.job ELSE jobstats_internal.pseudonym(j.job) END, label = jobstats_internal.pseudonym(j.label),
        uid = jobstats_internal.pseudonym_of_user(coalesce(forget_jobs.uid, j.uid), j.user_name), user_name = NULL, gid = NULL, group_name = NULL,
        job_name = NULL, job_group = jobstats_internal.pseudonym(j.job_group)
    WHERE j.job_no = ANY (numbers);
    UPDATE jobstats.job_summaries j
    SET job = CASE WHEN j.job = ANY (kept) THEN j.job ELSE jobstats_internal.pseudonym(j.job) END, label = jobstats_internal.pseudonym(j.label),
        uid = jobstats_internal.pseudonym_of_user(coalesce(forget_jobs.uid, j.uid), j.user_name), user_name = NULL, gid = NULL, group_name = NULL,
        job_name = NULL
    WHERE j.job_no = ANY (numbers);
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_jobs(bigint[], tid[], text[], bigint) IS
'Internal: takes from jobs, by their keys and the rows of their runs, whose they are. They get the pseudonym of the user, or of their own (NULL). Numbers that are kept are those of others, too.';

CREATE FUNCTION jobstats_internal.forget_sums(uid bigint, pseudonym bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    relation text;
BEGIN
    -- A columnstore changes at most 100,000 rows in a statement, unless it is told otherwise.
    PERFORM set_config(s.name, '0', true) FROM pg_settings s WHERE s.name = 'timescaledb.max_tuples_decompressed_per_dml_transaction';
    FOR relation IN
        SELECT c.relname FROM pg_class c
        WHERE c.relnamespace = 'jobstats'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname ~ '^rollup_(10m|1h|1d)_(users|members)$'
        ORDER BY c.relname
    LOOP
        EXECUTE format('UPDATE jobstats.%I SET uid = $2, user_name = NULL, gid = NULL, group_name = NULL WHERE uid = $1', relation)
            USING uid, pseudonym;
        EXECUTE format('UPDATE jobstats.%I r SET uid = $2, user_name = NULL, gid = NULL, group_name = NULL
            FROM jobstats_internal.names_of_user($1) n
            WHERE r.uid IS NULL AND r.user_name = n.user_name AND r.bucket > n.since AND r.bucket <= n.until', relation) USING uid, pseudonym;
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_sums(bigint, bigint) IS 'Internal: gives the sums by user of a user to the pseudonym.';

CREATE FUNCTION jobstats_internal.forget_used(kind text, id bigint, pseudonym bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    list text;
BEGIN
    -- What was said since the last time replaces what was said before.
    FOREACH list IN ARRAY ARRAY['used_now', 'used_first', 'used'] LOOP
        EXECUTE format('DELETE FROM jobstats.%1$I old USING jobstats.%1$I new
            WHERE new.kind = $1 AND new.id = $2 AND old.kind = $1 AND old.id = $3 AND (%2$s)', list,
            CASE list WHEN 'used_now' THEN 'old.target_id = new.target_id'
                WHEN 'used_first' THEN 'old.day = new.day AND old.target_id = new.target_id'
                ELSE 'old.day = new.day AND old.cluster = new.cluster AND old.filesystem = new.filesystem' END) USING kind, id, pseudonym;
        EXECUTE format('UPDATE jobstats.%I u SET id = $3 WHERE u.kind = $1 AND u.id = $2', list) USING kind, id, pseudonym;
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_used(text, bigint, bigint) IS 'Internal: gives the used space of a user or a group to the pseudonym.';

CREATE FUNCTION jobstats_internal.forget_names(uid bigint, pseudonym bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    private record;
    names text[] := ARRAY(SELECT n.user_name FROM jobstats_internal.names_of_user(forget_names.uid) n);
    gone bigint;
BEGIN
    -- A group that is called like its user is that of the user alone.
    FOR private IN
        SELECT g.gid FROM jobstats.groups g WHERE g.group_name = ANY (names)
        UNION SELECT g.gid FROM jobstats.earlier_groups g WHERE g.group_name = ANY (names)
    LOOP
        PERFORM jobstats_internal.forget_used(text 'group', private.gid, pseudonym);
        DELETE FROM jobstats.groups g WHERE g.gid = private.gid AND g.group_name = ANY (names);
        DELETE FROM jobstats.earlier_groups g WHERE g.gid = private.gid AND g.group_name = ANY (names);
    END LOOP;
    PERFORM jobstats_internal.forget_used(text 'user', forget_names.uid, pseudonym);
    DELETE FROM jobstats.to_resolve r WHERE r.uid = forget_names.uid;
    DELETE FROM jobstats.members m WHERE m.uid = forget_names.uid;
    DELETE FROM jobstats.managers m WHERE m.uid = forget_names.uid;
    DELETE FROM jobstats.earlier_users u WHERE u.uid = forget_names.uid;
    DELETE FROM jobstats.users u WHERE u.uid = forget_names.uid;
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN greatest(gone, cardinality(names));
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_names(bigint, bigint) IS
'Internal: deletes what a user and the user''s own group are and were called, and what the user may see; used space goes to the pseudonym. Returns the number of names.';

CREATE FUNCTION jobstats_internal.forget_work_of(uid bigint, OUT entries bigint, OUT jobs bigint, OUT names bigint)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    pseudonym bigint := jobstats_internal.pseudonym_of_user(forget_work_of.uid, NULL);
    numbers bigint[];
    runs tid[];
    identified bigint[];
    kept text[];
BEGIN
    PERFORM jobstats_internal.lock_store();
    SELECT coalesce(array_agg(DISTINCT j.job_no), '{}') INTO numbers
    FROM (
        SELECT i.job_no, i.uid, i.user_name, i.started FROM jobstats.job_ids i
        UNION ALL SELECT s.job_no, s.uid, s.user_name, s.started FROM jobstats.job_summaries s) j
    WHERE j.uid = forget_work_of.uid OR j.uid IS NULL AND EXISTS (
        SELECT FROM jobstats_internal.names_of_user(forget_work_of.uid) n
        WHERE n.user_name = j.user_name AND j.started >= n.since AND j.started < n.until);
    SELECT coalesce(array_agg(DISTINCT e.entry_id), '{}') INTO identified
    FROM (
        SELECT e.entry_id FROM jobstats.entries e WHERE e.uid = forget_work_of.uid
        UNION ALL
        -- What the system did for these jobs, and what has no number of a user.
        SELECT m.entry_id FROM jobstats.entry_jobs m JOIN unnest(numbers) f (job_no) ON f.job_no = m.job_no
        WHERE NOT EXISTS (
            SELECT FROM jobstats.entry_jobs o
            WHERE o.entry_id = m.entry_id AND NOT EXISTS (SELECT FROM unnest(numbers) g (job_no) WHERE g.job_no = o.job_no) AND o.job_no IS NOT NULL)
    ) e;
    kept := jobstats_internal.jobs_of_others(identified, numbers);
    PERFORM jobstats_internal.forget_entries(identified, kept, true);
    -- Feeds of jobs lock them in another order.
    PERFORM FROM jobstats.locks l WHERE l.name = 'jobs' FOR UPDATE;
    SELECT coalesce(array_agg(j.ctid), '{}') INTO runs
    FROM jobstats.jobs j
    WHERE j.uid = forget_work_of.uid OR j.uid IS NULL AND EXISTS (
        SELECT FROM jobstats_internal.names_of_user(forget_work_of.uid) n
        WHERE n.user_name = j.user_name AND coalesce(j.started, j.submitted, j.updated) >= n.since
            AND coalesce(j.started, j.submitted, j.updated) < n.until);
    PERFORM jobstats_internal.forget_jobs(numbers, runs, kept, forget_work_of.uid);
    PERFORM jobstats_internal.forget_sums(forget_work_of.uid, pseudonym);
    PERFORM FROM jobstats.locks l WHERE l.name = 'names' FOR UPDATE;
    names := jobstats_internal.forget_names(forget_work_of.uid, pseudonym);
    entries := cardinality(identified);
    jobs := greatest(cardinality(numbers), cardinality(runs));
    -- Statistics of columns have frequent values.
    IF entries + jobs + names > 0 THEN
        ANALYZE jobstats.entries, jobstats.jobs, jobstats.job_ids, jobstats.job_summaries, jobstats.users, jobstats.earlier_users,
            jobstats.groups, jobstats.earlier_groups, jobstats.used_now, jobstats.used_first, jobstats.used;
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_work_of(bigint) IS
'Internal: takes from the store who a user was, and returns how many entries, jobs and names that concerned.';

CREATE FUNCTION jobstats_internal.forget_user(uid bigint) RETURNS TABLE (trace text, "rows" bigint, gone timestamptz)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    done record;
    setting jobstats.settings;
BEGIN
    SELECT * INTO STRICT setting FROM jobstats.settings s;
    IF uid IS NULL THEN
        RAISE null_value_not_allowed USING MESSAGE = 'uid must not be NULL', HINT = 'Give the number of the user: id -u NAME tells it.';
    ELSIF uid NOT BETWEEN setting.system_uids_below AND 4294967295 THEN
        RAISE invalid_parameter_value USING MESSAGE = format('uid must be from %s to 4294967295, not %s', setting.system_uids_below, uid),
            HINT = 'Users below settings.system_uids_below belong to the system.';
    END IF;
    done := jobstats_internal.forget_work_of(uid);
    RETURN QUERY
    SELECT t.trace, t.n, CASE WHEN t.kept >= @extschema@.jobstats_forever() THEN timestamptz 'infinity' ELSE now() + t.kept END
    FROM (VALUES (1, 'identifiers', done.entries, interval '0'), (2, 'jobs', done.jobs, '0'), (3, 'names', done.names, '0'),
        (4, 'raw text', NULL, setting.raw_retention), (5, 'text of accounting and names', NULL, setting.raw_retention),
        (6, 'rejects', NULL, setting.rejects_retention), (7, 'backups and exported files', NULL, NULL)) AS t (number, trace, n, kept)
    ORDER BY t.number;
    INSERT INTO jobstats.forgotten AS f (uid, until)
    VALUES (forget_user.uid, now() + greatest(setting.raw_retention, setting.rejects_retention))
    ON CONFLICT (uid) DO UPDATE SET until = greatest(f.until, excluded.until);
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_user(bigint) IS
'Internal: does what jobstats_forget_user() says.';

CREATE FUNCTION jobstats_internal.forget_again() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    again record;
    done record;
    found bigint := 0;
BEGIN
    FOR again IN SELECT f.uid FROM jobstats.forgotten f ORDER BY f.uid LOOP
        done := jobstats_internal.forget_work_of(again.uid);
        found := found + done.entries + done.jobs + done.names;
    END LOOP;
    DELETE FROM jobstats.forgotten f WHERE f.until <= now();
    RETURN found;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_again() IS
'Internal: forgets once more the users of whom texts that are still kept may have brought something back, and returns how much that was.';
