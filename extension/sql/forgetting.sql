-- Removes users from the store, and keeps their usage: sums by target, account and partition do not change.

CREATE FUNCTION jobstats_internal.forget_entries(entries bigint[], kept text[], find_again boolean) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM jobstats.entries e WHERE e.entry_id = ANY (entries) ORDER BY e.entry_id FOR NO KEY UPDATE;
    EXECUTE format('UPDATE jobstats.entries r SET status = ''forgotten'', %s WHERE r.entry_id = ANY ($4)', jobstats_internal.forgotten_columns(text 'entries'))
        USING NULL::bigint, kept, find_again, entries;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_entries IS
'Internal: removes the users of entries. find_again: later text with the identifier finds the forgotten entry, else a new one. kept: job numbers that others have too.';

CREATE FUNCTION jobstats_internal.forget_jobs(numbers bigint[], runs tid[], kept text[], pseudonym bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    relation text;
BEGIN
    -- A text of accounting may have brought back forgotten jobs.
    DELETE FROM jobstats.jobs old
    USING jobstats.jobs new
    WHERE new.ctid = ANY (runs) AND old.ctid <> new.ctid AND old.scheduler = new.scheduler
        AND old.job IN (new.job, jobstats_internal.pseudonym(new.job)) AND old.label = jobstats_internal.pseudonym(new.label)
        AND old.submitted IS NOT DISTINCT FROM new.submitted AND (old.started IS NOT DISTINCT FROM new.started OR old.started IS NULL);
    -- Jobs of a user who is forgotten on request may be in recent texts, and are matched again. Expired jobs are in no new text.
    INSERT INTO jobstats.to_match (job)
    SELECT DISTINCT jobstats_internal.pseudonym_of_job(j.job, kept) FROM jobstats.jobs j WHERE j.ctid = ANY (runs) AND pseudonym IS NOT NULL;
    FOREACH relation IN ARRAY '{jobs,job_ids,job_summaries}'::text[] LOOP
        EXECUTE format('UPDATE jobstats.%I r SET %s WHERE r.%s', relation, jobstats_internal.forgotten_columns(relation),
            CASE relation WHEN 'jobs' THEN 'ctid = ANY ($4)' ELSE 'job_no = ANY ($5)' END) USING pseudonym, kept, NULL::boolean, runs, numbers;
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_jobs IS
'Internal: removes the users of jobs, by keys and rows of runs. They get pseudonym or, if it is NULL, that of their user. kept: numbers that others have too.';

CREATE FUNCTION jobstats_internal.forget_sums(uid bigint, pseudonym bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    relation text;
    forgotten text;
BEGIN
    -- By default a columnstore changes at most 100,000 rows in a statement.
    PERFORM set_config(s.name, '0', true) FROM pg_settings s WHERE s.name = 'timescaledb.max_tuples_decompressed_per_dml_transaction';
    FOR relation, forgotten IN
        SELECT p.relation, jobstats_internal.forgotten_columns(p.relation)
        FROM jobstats_internal.columns_of_people() p WHERE p.relation LIKE 'rollup%' AND p."column" = 'uid' ORDER BY 1
    LOOP
        EXECUTE format('UPDATE jobstats.%I r SET %s WHERE r.uid = $4', relation, forgotten) USING pseudonym, NULL::text[], NULL::boolean, uid;
        EXECUTE format('UPDATE jobstats.%I r SET %s FROM jobstats_internal.names_of_user($4) n
            WHERE r.uid IS NULL AND r.user_name = n.user_name AND r.bucket > n.since AND r.bucket <= n.until', relation, forgotten)
            USING pseudonym, NULL::text[], NULL::boolean, uid;
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_sums IS 'Internal: gives the sums by user of a user to the pseudonym.';

CREATE FUNCTION jobstats_internal.forget_days_of_used(kind text, id bigint, before timestamptz, pseudonym bigint) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
WITH said AS (
    DELETE FROM jobstats.used u
    WHERE u.kind = forget_days_of_used.kind AND u.day < (before AT TIME ZONE 'UTC')::date
        AND CASE WHEN forget_days_of_used.id IS NULL THEN u.id <= 4294967295 AND jobstats_internal.is_person(u.id) ELSE u.id = forget_days_of_used.id END
    RETURNING u.*
)
-- A later list adds to sums that were forgotten before.
INSERT INTO jobstats.used AS sum (day, cluster, filesystem, kind, id, kbytes, inodes, targets)
SELECT s.day, s.cluster, s.filesystem, s.kind, coalesce(pseudonym, jobstats_internal.pseudonym_of_user(s.id, NULL::text)), s.kbytes, s.inodes, s.targets
FROM said s
ON CONFLICT (day, kind, cluster, filesystem, id) DO UPDATE
SET kbytes = sum.kbytes + excluded.kbytes, inodes = coalesce(sum.inodes + excluded.inodes, sum.inodes, excluded.inodes),
    targets = sum.targets + excluded.targets
$$;
COMMENT ON FUNCTION jobstats_internal.forget_days_of_used IS
'Internal: gives used space of days before a time to the pseudonym of a user or group; id NULL: of all users, to theirs.';

CREATE FUNCTION jobstats_internal.forget_used(kind text, id bigint, pseudonym bigint) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
-- In the order in which feeds lock them.
SELECT FROM jobstats.used_now u WHERE u.kind = forget_used.kind AND u.id IN (forget_used.id, pseudonym) ORDER BY u.target_id FOR UPDATE;
-- New lists of the user replace forgotten ones; sums of days are added up.
DELETE FROM jobstats.used_now old USING jobstats.used_now new
WHERE new.kind = forget_used.kind AND new.id = forget_used.id AND old.kind = new.kind AND old.id = pseudonym AND old.target_id = new.target_id;
UPDATE jobstats.used_now u SET id = pseudonym WHERE u.kind = forget_used.kind AND u.id = forget_used.id;
DELETE FROM jobstats.used_first old USING jobstats.used_first new
WHERE new.kind = forget_used.kind AND new.id = forget_used.id AND old.kind = new.kind AND old.id = pseudonym
    AND old.target_id = new.target_id AND old.day = new.day;
UPDATE jobstats.used_first u SET id = pseudonym WHERE u.kind = forget_used.kind AND u.id = forget_used.id;
SELECT jobstats_internal.forget_days_of_used(forget_used.kind, forget_used.id, timestamptz 'infinity', pseudonym)
$$;
COMMENT ON FUNCTION jobstats_internal.forget_used IS 'Internal: gives the used space of a user or a group to the pseudonym.';

CREATE FUNCTION jobstats_internal.forget_names(uid bigint, pseudonym bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    own_gid bigint;
    relation text;
    deleted bigint;
    gone bigint := 0;
BEGIN
    FOR own_gid IN SELECT jobstats_internal.own_groups(forget_names.uid) LOOP
        PERFORM jobstats_internal.forget_used(text 'group', own_gid, pseudonym);
        DELETE FROM jobstats.groups g WHERE g.gid = own_gid;
        DELETE FROM jobstats.earlier_groups g WHERE g.gid = own_gid;
    END LOOP;
    PERFORM jobstats_internal.forget_used(text 'user', forget_names.uid, pseudonym);
    FOR relation IN SELECT p.relation FROM jobstats_internal.columns_of_people() p WHERE p."column" = 'uid' AND p.becomes = 'DELETE' LOOP
        EXECUTE format('DELETE FROM jobstats.%I r WHERE r.uid = $1', relation) USING uid;
        GET DIAGNOSTICS deleted = ROW_COUNT;
        gone := gone + CASE WHEN relation LIKE '%users' THEN deleted ELSE 0 END;
    END LOOP;
    RETURN gone;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_names IS
'Internal: deletes the names of a user and of the user''s own groups, and the user''s rights; used space goes to the pseudonym. Returns the number of names.';

-- The first culprit has its largest job; other culprits that are jobs have no user.
CREATE FUNCTION jobstats_internal.forget_culprits(uid bigint, user_names text[], jobs text[], kept text[], before timestamptz) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
UPDATE jobstats.events e SET culprits = jsonb_set(e.culprits, '{subjects}', n.subjects)
FROM (
    SELECT o.event_id, jsonb_agg(CASE WHEN f.is_forgotten THEN jsonb_strip_nulls(s.subject - 'user_name' || jsonb_build_object(
            'uid', jobstats_internal.pseudonym_of_user((s.subject ->> 'uid')::bigint, s.subject ->> 'user_name'),
            'job', jobstats_internal.pseudonym_of_job(s.subject ->> 'job', kept))) ELSE s.subject END ORDER BY s.number) AS subjects
    FROM jobstats.events o
    CROSS JOIN LATERAL jsonb_array_elements(o.culprits -> 'subjects') WITH ORDINALITY AS s (subject, number)
    CROSS JOIN LATERAL (
        SELECT CASE WHEN forget_culprits.uid IS NULL THEN s.subject ?| '{uid,user_name,job}'::text[]
            ELSE coalesce((s.subject ->> 'uid')::bigint = forget_culprits.uid, s.subject ->> 'user_name' = ANY (user_names), false)
                OR NOT s.subject ? 'uid' AND s.subject ->> 'job' = ANY (jobs) END IS TRUE AS is_forgotten) f
    WHERE o.until < forget_culprits.before
    GROUP BY o.event_id
) n
WHERE e.event_id = n.event_id AND e.culprits -> 'subjects' <> n.subjects
$$;
COMMENT ON FUNCTION jobstats_internal.forget_culprits IS
'Internal: replaces a user, with these names and jobs, by pseudonyms in events that ended before a time; uid NULL: all users. kept: numbers that others have too.';

CREATE FUNCTION jobstats_internal.forget_notes(words text[], pseudonym bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    named text := (SELECT '\m(' || string_agg(regexp_replace(w.word, '(\W)', '\\\1', 'g'), '|') || ')\M' FROM unnest(words) w (word));
    note record;
BEGIN
    FOR note IN SELECT p.relation, p."column" FROM jobstats_internal.columns_of_people() p WHERE p.holds = 'note' LOOP
        EXECUTE format('UPDATE jobstats.%I r SET %2$I = regexp_replace(r.%2$I, $1, $2, ''g'') WHERE r.%2$I ~ $1', note.relation, note."column")
            USING named, pseudonym::text;
    END LOOP;
    -- Maintenance rebuilds it.
    DELETE FROM jobstats.advice;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_notes IS
'Internal: replaces the names and the number of a user, as whole words, by the pseudonym in text that people typed.';

CREATE FUNCTION jobstats_internal.forget_work_of(uid bigint, OUT entries bigint, OUT jobs bigint, OUT names bigint)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    pseudonym bigint := jobstats_internal.pseudonym_of_user(forget_work_of.uid, NULL::text);
    numbers bigint[];
    runs tid[];
    identified bigint[];
    kept text[];
    user_names text[] := ARRAY(SELECT n.user_name FROM jobstats_internal.names_of_user(uid) n);
BEGIN
    PERFORM jobstats_internal.drop_copies();
    PERFORM jobstats_internal.lock_store();
    -- Feeds of jobs lock them in another order.
    PERFORM FROM jobstats.locks l WHERE l.name = 'jobs' FOR UPDATE;
    numbers := ARRAY(SELECT jobstats_internal.jobs_of_user(forget_work_of.uid));
    identified := ARRAY(SELECT jobstats_internal.entries_of_user(forget_work_of.uid, numbers));
    PERFORM FROM jobstats.entries e WHERE e.entry_id = ANY (identified) ORDER BY e.entry_id FOR NO KEY UPDATE;
    PERFORM jobstats_internal.forget_sums(forget_work_of.uid, pseudonym);
    runs := ARRAY(SELECT jobstats_internal.runs_of_user(forget_work_of.uid));
    kept := jobstats_internal.jobs_of_others(identified, numbers, runs);
    PERFORM jobstats_internal.forget_notes(user_names || forget_work_of.uid::text, pseudonym);
    PERFORM jobstats_internal.forget_culprits(forget_work_of.uid, user_names,
        ARRAY(SELECT i.job FROM jobstats.job_ids i WHERE i.job_no = ANY (numbers)
            UNION SELECT e.job FROM jobstats.entries e WHERE e.entry_id = ANY (identified) AND e.job IS NOT NULL), kept, timestamptz 'infinity');
    PERFORM jobstats_internal.forget_entries(identified, kept, true);
    PERFORM jobstats_internal.reset_realtime();
    PERFORM jobstats_internal.forget_jobs(numbers, runs, kept, pseudonym);
    -- Jobs that the user cancelled.
    UPDATE jobstats.jobs j SET state = jobstats_internal.without_canceller(j.state) WHERE j.state LIKE '% by ' || forget_work_of.uid;
    UPDATE jobstats.job_ids j SET state = jobstats_internal.without_canceller(j.state) WHERE j.state LIKE '% by ' || forget_work_of.uid;
    UPDATE jobstats.job_summaries j SET state = jobstats_internal.without_canceller(j.state) WHERE j.state LIKE '% by ' || forget_work_of.uid;
    PERFORM FROM jobstats.locks l WHERE l.name = 'names' FOR UPDATE;
    names := jobstats_internal.forget_names(forget_work_of.uid, pseudonym);
    entries := cardinality(identified);
    jobs := greatest(cardinality(numbers), cardinality(runs));
    -- Statistics contain frequent values of columns.
    IF entries + jobs + names > 0 THEN
        EXECUTE 'ANALYZE ' || (SELECT string_agg(DISTINCT 'jobstats.' || p.relation, ', ')
            FROM jobstats_internal.columns_of_people() p WHERE p.becomes IS NOT NULL AND p.relation NOT LIKE 'rollup%');
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_work_of IS
'Internal: removes a user from the store, and returns the number of entries, jobs and names changed.';

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
        RAISE null_value_not_allowed USING MESSAGE = 'uid must not be NULL', HINT = 'Give the number of the user, as printed by id -u NAME.';
    ELSIF NOT jobstats_internal.is_person(uid) THEN
        RAISE invalid_parameter_value USING MESSAGE = format('uid must be from %s to 4294967295, not %s', setting.system_uids_below, uid),
            HINT = 'Users below settings.system_uids_below belong to the system.';
    END IF;
    INSERT INTO jobstats.forgotten AS f (uid, user_names, gids, until)
    SELECT forget_user.uid, ARRAY(SELECT DISTINCT n.user_name FROM jobstats_internal.names_of_user(forget_user.uid) n),
        ARRAY(SELECT jobstats_internal.own_groups(forget_user.uid)),
        now() + greatest(setting.raw_retention, setting.rejects_retention) + setting.chunk_interval
    ON CONFLICT (uid) DO UPDATE
    SET user_names = ARRAY(SELECT DISTINCT n.* FROM unnest(f.user_names || excluded.user_names) n),
        gids = ARRAY(SELECT DISTINCT g.* FROM unnest(f.gids || excluded.gids) g), until = greatest(f.until, excluded.until);
    done := jobstats_internal.forget_work_of(uid);
    RETURN QUERY
    SELECT t.trace, t.n, CASE WHEN t.kept >= jobstats_internal.forever() THEN timestamptz 'infinity' ELSE now() + t.kept END
    FROM (VALUES (1, 'identifiers', done.entries, interval '0'), (2, 'jobs', done.jobs, '0'), (3, 'names', done.names, '0'),
        (4, 'raw text', NULL, setting.raw_retention + setting.chunk_interval), (5, 'raw text of events', NULL, jobstats_internal.evidence_kept_for()),
        (6, 'text of accounting and names', NULL, setting.raw_retention), (7, 'rejects', NULL, setting.rejects_retention), (8, 'backups and exported files', NULL, NULL)) AS t (number, trace, n, kept)
    ORDER BY t.number;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_user IS 'Internal: implements jobstats_forget_user().';

CREATE FUNCTION jobstats_internal.forget_again() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    again bigint;
    done record;
    found bigint := 0;
BEGIN
    -- Forgotten users who are in the store again.
    FOR again IN
        SELECT f.uid
        FROM jobstats.forgotten f
        WHERE EXISTS (SELECT FROM jobstats.users u WHERE u.uid = f.uid)
            OR EXISTS (SELECT FROM jobstats.entries e WHERE e.uid = f.uid)
            OR EXISTS (SELECT FROM jobstats.job_ids i WHERE i.uid = f.uid)
            OR EXISTS (SELECT FROM jobstats.job_summaries s WHERE s.uid = f.uid)
            OR EXISTS (SELECT FROM jobstats.groups g WHERE g.gid = ANY (f.gids))
            OR EXISTS (SELECT FROM jobstats.used_now u WHERE u.kind = 'user' AND u.id = f.uid)
            OR EXISTS (SELECT FROM jobstats.used_first u WHERE u.kind = 'user' AND u.id = f.uid)
            OR EXISTS (SELECT FROM jobstats_internal.runs_of_user(f.uid))
        UNION
        SELECT f.uid FROM jobstats.forgotten f JOIN jobstats.jobs j ON substring(j.state, text ' by (\d+)$') = f.uid::text
        ORDER BY 1
    LOOP
        done := jobstats_internal.forget_work_of(again);
        found := found + done.entries + done.jobs + done.names;
    END LOOP;
    -- No text names them any more. From now on such an identifier belongs to another user.
    UPDATE jobstats.entries e SET name = jobstats_internal.name_for_ever(e.entry_id)
    FROM (
        SELECT jobstats_internal.pseudonym_of_user(f.uid, NULL::text) AS uid FROM jobstats.forgotten f WHERE f.until <= now()) f
    WHERE e.status = 'forgotten' AND (e.uid = f.uid OR EXISTS (
        SELECT FROM jobstats.entry_jobs m JOIN jobstats.job_ids i ON i.job_no = m.job_no WHERE m.entry_id = e.entry_id AND i.uid = f.uid));
    DELETE FROM jobstats.forgotten f WHERE f.until <= now();
    RETURN found;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_again IS
'Internal: forgets users again whom retained texts have brought back, and returns the number of rows changed.';

-- Forgets users after settings.personal_retention.
CREATE FUNCTION jobstats_internal.forget_idle_entries(idle bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    recomputed timestamptz;
    relation text;
BEGIN
    SELECT now() - s.jobs_retention INTO recomputed FROM jobstats.settings s;
    INSERT INTO jobstats.dirty_users (target_id, day)
    SELECT DISTINCT r.target_id, date_bin(interval '1 day', r.bucket - interval '1 microsecond', timestamptz 'epoch')
    FROM jobstats.rollup_1d r
    WHERE r.entry_id = ANY (idle) AND r.bucket > recomputed
    ON CONFLICT DO NOTHING;
    -- Sums of days whose jobs are gone cannot be computed again: they would lose accounts.
    FOR relation IN
        SELECT p.relation FROM jobstats_internal.columns_of_people() p WHERE p.relation ~ '^rollup_1[hd]_' AND p."column" = 'uid'
    LOOP
        EXECUTE format('UPDATE jobstats.%I r SET %s
            FROM (SELECT DISTINCT d.target_id, d.bucket, e.uid
                FROM jobstats.rollup_1d d JOIN jobstats.entries e ON e.entry_id = d.entry_id
                WHERE d.entry_id = ANY ($4) AND d.bucket <= $5 AND e.uid IS NOT NULL) k
            WHERE r.target_id = k.target_id AND r.uid = k.uid AND r.bucket >= k.bucket AND r.bucket < k.bucket + interval ''1 day''',
            relation, jobstats_internal.forgotten_columns(relation)) USING NULL::bigint, NULL::text[], NULL::boolean, idle, recomputed;
    END LOOP;
    PERFORM jobstats_internal.forget_entries(idle, '{}'::text[], false);
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_idle_entries IS 'Internal: removes the users of entries that have been idle for long.';

CREATE FUNCTION jobstats_internal.forget_old_jobs(before timestamptz, portion integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- Numbers of jobs with a user. A job waits for its entries, which are matched by its number and user.
    old text[] := ARRAY(
        SELECT j.job
        FROM (
            SELECT r.job, coalesce(r.ended, r.updated) AS ended, r.uid, num_nonnulls(r.user_name, r.job_name, r.node_list) > 0 AS is_named
            FROM jobstats.jobs r
            UNION ALL
            SELECT i.job, coalesce(i.ended, i.started), i.uid, num_nonnulls(i.user_name, i.job_name) > 0 FROM jobstats.job_ids i) j
        WHERE NOT EXISTS (SELECT FROM jobstats.entries e WHERE e.job = j.job AND e.status <> 'forgotten')
        GROUP BY j.job
        HAVING max(j.ended) < before AND bool_or(j.is_named OR j.uid <= 4294967295 AND jobstats_internal.is_person(j.uid))
        ORDER BY j.job
        LIMIT portion);
    numbers bigint[] := ARRAY(SELECT i.job_no FROM unnest(old) o (job) JOIN jobstats.job_ids i ON i.job = o.job);
    summaries bigint[] := ARRAY(
        SELECT s.job_no FROM jobstats.job_summaries s
        WHERE s.ended < before AND (s.uid <= 4294967295 AND jobstats_internal.is_person(s.uid) OR num_nonnulls(s.user_name, s.job_name) > 0)
            AND NOT EXISTS (SELECT FROM jobstats.job_ids i WHERE i.job_no = s.job_no)
        LIMIT portion);
BEGIN
    -- The user of an entry without a user is the user of its job.
    INSERT INTO jobstats.dirty_users (target_id, day)
    SELECT DISTINCT r.target_id, date_bin(interval '1 day', r.bucket - interval '1 microsecond', timestamptz 'epoch')
    FROM jobstats.settings s, jobstats.entry_jobs m
    JOIN unnest(numbers) f (job_no) ON f.job_no = m.job_no
    JOIN jobstats.entries e ON e.entry_id = m.entry_id AND e.uid IS NULL
    JOIN jobstats.rollup_1d r ON r.entry_id = m.entry_id AND r.bucket > m.valid_from AND r.bucket <= m.valid_to
    WHERE r.bucket > now() - s.jobs_retention
    ON CONFLICT DO NOTHING;
    PERFORM jobstats_internal.forget_jobs(numbers, ARRAY(SELECT j.ctid FROM unnest(old) o (job) JOIN jobstats.jobs j ON j.job = o.job),
        '{}'::text[], NULL::bigint);
    UPDATE jobstats.entries e
    SET job = jobstats_internal.pseudonym(e.job), workload = coalesce(jobstats_internal.pseudonym(e.job), e.name)
    WHERE e.job = ANY (old) AND e.status = 'forgotten';
    -- Summaries outlive their jobs.
    PERFORM jobstats_internal.forget_jobs(summaries, '{}'::tid[], '{}'::text[], NULL::bigint);
    RETURN greatest(cardinality(old), cardinality(summaries));
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_old_jobs IS
'Internal: removes the users of jobs that ended before a time, a portion each of job numbers and summaries, and returns the larger count.';

CREATE FUNCTION jobstats_internal.forget_people() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    portion CONSTANT integer := 50000;
    named_since timestamptz := now() - jobstats_internal.people_kept_for();
    found bigint := jobstats_internal.forget_again();
    jobs bigint;
BEGIN
    IF EXISTS (SELECT FROM jobstats.sweep s WHERE s.people_forgotten > now() - interval '1 day') THEN
        RETURN found;
    END IF;
    PERFORM jobstats_internal.lock_store();
    PERFORM FROM jobstats.locks l WHERE l.name = 'jobs' FOR UPDATE;
    jobs := jobstats_internal.forget_old_jobs(named_since, portion);
    PERFORM FROM jobstats.locks l WHERE l.name = 'names' FOR UPDATE;
    DELETE FROM jobstats.earlier_users u WHERE u.until < named_since;
    DELETE FROM jobstats.earlier_groups g WHERE g.until < named_since;
    -- Users and groups without a recent text, job or entry.
    DELETE FROM jobstats.users u WHERE u.source = 'getent' AND u.seen > timestamptz '-infinity' AND u.seen < named_since;
    DELETE FROM jobstats.users u
    WHERE u.source = 'accounting' AND NOT EXISTS (SELECT FROM jobstats.jobs j WHERE j.uid = u.uid)
        AND NOT EXISTS (SELECT FROM jobstats.job_ids i WHERE i.uid = u.uid)
        AND NOT EXISTS (SELECT FROM jobstats.entries e WHERE e.uid = u.uid);
    DELETE FROM jobstats.groups g WHERE g.source = 'getent' AND g.seen > timestamptz '-infinity' AND g.seen < named_since;
    PERFORM jobstats_internal.forget_days_of_used(text 'user', NULL::bigint, named_since, NULL::bigint);
    PERFORM jobstats_internal.forget_culprits(NULL::bigint, NULL::text[], NULL::text[], '{}'::text[], named_since);
    -- The rest comes next time.
    IF jobs < portion THEN
        UPDATE jobstats.sweep s SET people_forgotten = now();
    END IF;
    RETURN found + jobs;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_people IS
'Internal: forgets users again and, once a day, the users of rows older than settings.personal_retention; returns the number of entries, jobs and names.';
