-- jobstats_maintain(): the list of its steps, and their execution.

-- A step is a function. Each call of it has a separate transaction. It returns the number of rows written, or of chunks or partitions dropped;
-- NULL or void: there was no work, and jobstats.maintenance gets no row.
--     step     the name in jobstats.maintenance
--     call     the function; $1 is the second column of its last result
--     lasts    the function is called until it returns NULL, but not again after this time; NULL: it is called once
--     lock     the row of jobstats.locks that it holds, as a setup or a feed of jobs does
--     part_of  a group: when one of its steps fails, the next call takes the rest
--     tries    how often it may be tried, after all others, while a table that it needs is in use
CREATE FUNCTION jobstats_internal.maintenance_steps()
RETURNS TABLE (number integer, step text, call text, lasts interval, lock text, part_of text, tries integer)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    forever CONSTANT interval := interval '100 years';
BEGIN
    IF (SELECT s.front FROM jobstats.settings s) THEN
        RETURN QUERY
        SELECT s.number, s.step, s.call, NULL::interval, NULL::text, NULL::text, s.tries
        FROM (
            SELECT 1, 'node ' || a.name, format('note_node(%L)', a.name), 1 FROM jobstats.attached a
            UNION ALL
            SELECT 2, 'node ' || a.name, format('turn_node(%L)', a.name), 5 FROM jobstats.attached a
            UNION ALL
            VALUES (3, 'retention of maintenance', 'forget_maintenance()', 1)
        ) AS s (number, step, call, tries);
        RETURN;
    END IF;
    RETURN QUERY
    VALUES
        -- If it fails, all others are left out.
        (1, 'clock', 'check_clock()', NULL::interval, NULL, NULL, 1),
        (2, 'idle feeds', 'end_idle_feeds()', NULL, NULL, NULL, 1),
        (3, 'identification', 'reidentify_some()', interval '2 minutes', NULL, NULL, 1),
        (4, 'retention of people', 'forget_people()', NULL, NULL, NULL, 1),
        (5, 'refresh', 'announce()', NULL, NULL, 'refresh', 1),
        (6, 'refresh', 'settle()', NULL, NULL, 'refresh', 1),
        (7, 'refresh of rollup_10m', 'refresh_rollup(''10m'', false, $1)', forever, 'store', 'refresh', 1),
        (8, 'refresh of rollup_1h', 'refresh_rollup(''1h'', false, $1)', forever, 'store', 'refresh', 1),
        (9, 'refresh of rollup_1d', 'refresh_rollup(''1d'', false, $1)', forever, 'store', 'refresh', 1),
        -- Sums by user need the matches.
        (10, 'match', 'queue_unmatched()', NULL, NULL, NULL, 1),
        (11, 'match', 'match_some()', interval '2 minutes', 'jobs', NULL, 1),
        (12, 'advice', 'advise()', NULL, NULL, NULL, 1),
        (13, 'summaries', 'queue_changed_summaries()', NULL, NULL, NULL, 1),
        (14, 'summaries', 'summarize_some()', interval '2 minutes', NULL, NULL, 1),
        (15, 'findings', 'judge()', interval '400 milliseconds', NULL, NULL, 1),
        (16, 'refresh of rollup_10m_users', 'refresh_rollup(''10m'', true, $1)', forever, 'store', 'refresh', 1),
        (17, 'refresh of rollup_1h_users', 'refresh_rollup(''1h'', true, $1)', forever, 'store', 'refresh', 1),
        (18, 'refresh of rollup_1d_users', 'refresh_rollup(''1d'', true, $1)', forever, 'store', 'refresh', 1),
        (19, 'refresh', 'forget_dirty()', NULL, NULL, 'refresh', 1),
        (20, 'events', 'watch()', NULL, NULL, NULL, 1),
        (21, 'retention', 'forget()', NULL, NULL, NULL, 1),
        (22, 'retention', 'forget_roles()', NULL, NULL, NULL, 1)
    UNION ALL
    SELECT 23, 'partitions of ' || t.relation, format('add_partitions(%L, ''day'', now(), now() + interval ''3 days'', true)', t.relation), NULL, 'store', NULL, 3
    FROM jobstats_internal.growing_tables() t
    UNION ALL
    SELECT 24, format('retention of rollup_%s%s', l.level, o.owner), format('drop_old(%L)', format('rollup_%s%s', l.level, o.owner)), NULL, 'store', NULL, 3
    FROM jobstats.rollups l, unnest('{"",_accounts,_members,_targets,_users}'::text[]) AS o (owner)
    WHERE l.level || o.owner <> '10m_members'
    UNION ALL
    SELECT CASE t.kept WHEN 'retention' THEN 25 ELSE 27 END, 'retention of ' || t.relation, format('drop_old(%L)', t.relation), NULL, 'store',
        CASE t.relation WHEN 'raw' THEN 'raw text' END, 3
    FROM jobstats_internal.growing_tables() t
    UNION ALL
    VALUES
        -- Raw text is copied before it is dropped.
        (26, 'evidence of events', 'keep_evidence()', NULL, NULL, 'raw text', 1),
        (28, 'retention of events', 'forget_events()', NULL, NULL, NULL, 1),
        (29, 'retention of rejects', 'forget_rejects()', NULL, NULL, NULL, 1),
        (30, 'retention of samples', 'forget_samples()', NULL, NULL, NULL, 1),
        (31, 'retention of texts', 'forget_texts()', NULL, 'jobs', NULL, 1),
        (32, 'used space', 'sum_used()', NULL, NULL, NULL, 1),
        (33, 'retention of maintenance', 'forget_maintenance()', NULL, NULL, NULL, 1),
        (34, 'retention of jobs', 'forget_ended_jobs()', NULL, 'jobs', NULL, 1),
        (35, 'indexes by time', 'summarize_ranges()', NULL, 'store', NULL, 1),
        -- First chunks in rows, then packed chunks with new rows.
        (36, 'columns', 'pack_columns(false)', forever, NULL, NULL, 1),
        (37, 'columns', 'pack_columns(true)', interval '10 seconds', NULL, NULL, 1),
        (38, 'retention of entries', 'sweep()', interval '5 seconds', NULL, NULL, 1),
        (39, 'check', 'check_rollups()', NULL, NULL, NULL, 1);
END
$$;
COMMENT ON FUNCTION jobstats_internal.maintenance_steps IS
'Internal: the steps of jobstats_maintain() in their order: function, time limit of a step in parts, lock, group, and number of tries.';

-- Other steps in SQL.

CREATE FUNCTION jobstats_internal.check_clock() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    known timestamptz := (SELECT greatest(r.clock, (SELECT max(t.last_observation) FROM jobstats.targets t)) FROM jobstats.refresh r);
BEGIN
    -- Two days leave room for maintenance once a day.
    IF known < now() - interval '2 days' THEN
        RAISE data_exception USING MESSAGE = format('the clock of this machine shows %s, which is more than two days after the newest reading and the last maintenance (%s). '
            'If it is right, confirm it with SELECT jobstats_setup();', date_trunc('second', now()), date_trunc('second', known));
    END IF;
    UPDATE jobstats.refresh r SET clock = greatest(r.clock, now());
END
$$;
COMMENT ON FUNCTION jobstats_internal.check_clock IS
'Internal: records the time; fails if the clock of the database may be ahead, because maintenance would then drop rows too early.';

CREATE FUNCTION jobstats_internal.refresh_rollup(level text, by_user boolean, after jsonb, OUT affected bigint, OUT reached jsonb)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    began timestamptz := clock_timestamp();
    span record;
BEGIN
    -- While entries are identified again, sums by user would have to be computed again and again.
    IF by_user AND ((SELECT s.keep FROM jobstats.settings s) = 'counts'
        OR jobstats_internal.refreshed(level, true) = timestamptz 'epoch' AND jobstats_internal.is_reidentifying())
    THEN
        RETURN;
    END IF;
    IF after ->> 'days' IS NULL THEN
        FOR span IN
            SELECT d.* FROM jobstats_internal.next_dirty(level, by_user, (after ->> 'target')::integer, (after ->> 'from')::timestamptz, integer '100') d
        LOOP
            affected := coalesce(affected, 0) + jobstats_internal.roll_up(level, by_user, span.span_from, span.span_to, span.target_id);
            reached := jsonb_build_object('target', span.target_id, 'from', span.span_from);
            EXIT WHEN clock_timestamp() > began + interval '1 second';
        END LOOP;
        IF affected IS NOT NULL THEN
            RETURN;
        END IF;
    END IF;
    SELECT * INTO span FROM jobstats_internal.next_day(level, by_user);
    IF span.span_from IS NOT NULL THEN
        affected := jobstats_internal.roll_up(level, by_user, span.span_from, span.span_to);
        UPDATE jobstats.rollups l
        SET refreshed = CASE WHEN by_user THEN l.refreshed ELSE greatest(l.refreshed, span.span_to) END,
            users_refreshed = CASE WHEN by_user THEN greatest(l.users_refreshed, span.span_to) ELSE l.users_refreshed END
        WHERE l.level = refresh_rollup.level;
        reached := jsonb '{"days": true}';
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.refresh_rollup IS
'Internal: recomputes some changed spans of a rollup, or of its sums by user, then one of its missing days; returns the number of rows and the progress, NULL: up to date.';

CREATE FUNCTION jobstats_internal.forget_dirty() RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DELETE FROM jobstats.dirty d WHERE d.known;
-- Only maintenance matches entries, and did so before it computed the sums by user.
DELETE FROM jobstats.dirty_users u
$$;
COMMENT ON FUNCTION jobstats_internal.forget_dirty IS 'Internal: clears the changed spans after all rollups were recomputed.';

CREATE FUNCTION jobstats_internal.drop_old(relation text) RETURNS bigint
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
SELECT jobstats_internal.drop_before(drop_old.relation, coalesce((
    -- Drops all chunks of sums by user that settings.keep leaves out: none ends later than in two years.
    SELECT CASE WHEN s.keep = 'counts' AND l.users_refreshed = timestamptz 'epoch' AND drop_old.relation ~ '_(users|accounts|members)$'
        THEN now() + interval '2 years' ELSE l.dropped END
    FROM jobstats.rollups l WHERE drop_old.relation LIKE 'rollup\_' || l.level || '%'), (
    SELECT CASE t.kept WHEN 'retention' THEN r.dropped ELSE jobstats_internal.kept_since(t.kept) END
    FROM jobstats_internal.growing_tables() t WHERE t.relation = drop_old.relation)))
FROM jobstats.refresh r, jobstats.settings s
$$;
COMMENT ON FUNCTION jobstats_internal.drop_old IS
'Internal: drops the expired days of a table of the store, and returns the number of chunks or partitions.';

CREATE FUNCTION jobstats_internal.check_rollups() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    lost text;
BEGIN
    -- Once a day, and in every call while something is lost.
    IF EXISTS (SELECT FROM jobstats.maintenance m
        WHERE m.step = 'check' AND m.took IS NOT NULL AND m.problem IS NULL AND m.began > now() - interval '1 day')
    THEN
        RETURN NULL;
    END IF;
    lost := jobstats_internal.lost_rollups();
    IF lost IS NOT NULL THEN
        RAISE data_exception USING MESSAGE = lost || ', which was summed before: restore it from a backup';
    END IF;
    RETURN 0;
END
$$;
COMMENT ON FUNCTION jobstats_internal.check_rollups IS 'Internal: fails if rollups have lost sums that they had; NULL: that was checked today.';

-- The execution of the steps.

CREATE FUNCTION jobstats_internal.require_rows() RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    lost text;
BEGIN
    SELECT t.name INTO lost
    FROM (VALUES ('settings', ARRAY(SELECT '' FROM jobstats.settings), 1), ('refresh', ARRAY(SELECT '' FROM jobstats.refresh), 1),
        ('sweep', ARRAY(SELECT '' FROM jobstats.sweep), 1), ('secrets', ARRAY(SELECT '' FROM jobstats.secrets), 1), ('identification', ARRAY(SELECT '' FROM jobstats.identification), 1),
        ('rollups', ARRAY(SELECT l.level FROM jobstats.rollups l WHERE l.level IN ('10m', '1h', '1d')), 3),
        ('locks', ARRAY(SELECT l.name FROM jobstats.locks l WHERE l.name IN ('store', 'entries', 'jobs')), 3)) AS t (name, held, wanted)
    WHERE cardinality(t.held) < t.wanted
    LIMIT 1;
    IF FOUND THEN
        RAISE object_not_in_prerequisite_state USING MESSAGE = format('jobstats.%s has lost a row', lost),
            HINT = 'Run SELECT jobstats_setup(); it restores missing rows, with default settings.';
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.require_rows IS
'Internal: fails with 55000 where a table of the store lacks a row that maintenance needs.';

CREATE FUNCTION jobstats_internal.begin_steps() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF (SELECT s.front FROM jobstats.settings s) IS NOT TRUE THEN
        PERFORM jobstats_internal.require_rows();
    END IF;
    -- Of a call that was canceled, or whose server stopped.
    DELETE FROM jobstats.maintenance m WHERE m.took IS NULL AND m.step = 'all';
    UPDATE jobstats.maintenance m SET took = interval '0', affected = coalesce(m.affected, 0), problem = 'the call was not completed'
    WHERE m.took IS NULL;
    INSERT INTO jobstats.maintenance (step, began) VALUES ('all', clock_timestamp());
END
$$;
COMMENT ON FUNCTION jobstats_internal.begin_steps IS
'Internal: records in jobstats.maintenance that a call of jobstats_maintain() begins, and marks an unfinished call before it.';

CREATE FUNCTION jobstats_internal.end_step(problem text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    failed text;
BEGIN
    DELETE FROM jobstats.maintenance m WHERE m.took IS NULL AND m.step <> 'all' AND m.affected IS NULL AND end_step.problem IS NULL;
    UPDATE jobstats.maintenance m SET took = clock_timestamp() - m.began, affected = coalesce(m.affected, 0), problem = end_step.problem
    WHERE m.took IS NULL AND m.step <> 'all'
    RETURNING m.step INTO failed;
    IF end_step.problem IS NOT NULL THEN
        RAISE WARNING '%: %; the next call of jobstats_maintain() tries again', failed, end_step.problem;
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.end_step IS
'Internal: notes in jobstats.maintenance that the running step has ended, with a warning if it had a problem; deletes its row if there was no work.';

CREATE FUNCTION jobstats_internal.next_step(state jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    since timestamptz := (SELECT m.began FROM jobstats.maintenance m WHERE m.took IS NULL AND m.step = 'all');
    chosen jsonb;
BEGIN
    WITH listed AS MATERIALIZED (
        SELECT s.* FROM jobstats_internal.maintenance_steps() s
    ), done AS MATERIALIZED (
        SELECT m.step, m.problem FROM jobstats.maintenance m WHERE m.began >= since AND m.step <> 'all'
    ), next AS (
        SELECT t.try, s.*
        FROM listed s CROSS JOIN LATERAL generate_series(1, s.tries) AS t (try)
        WHERE (t.try, s.number, s.step) > (coalesce((state ->> 'try')::integer, 1), coalesce((state ->> 'number')::integer, 0), coalesce(state ->> 'step', ''))
            -- A step whose table was in use has left no row, and is tried again.
            AND (t.try = 1 OR NOT EXISTS (SELECT FROM done d WHERE d.step = s.step))
            AND NOT EXISTS (
                SELECT FROM done d JOIN listed o ON o.step = d.step WHERE d.problem IS NOT NULL AND (o.part_of = s.part_of OR o.step = 'clock'))
        ORDER BY t.try, s.number, s.step
        LIMIT 1
    ), begun AS (
        INSERT INTO jobstats.maintenance (step, began) SELECT n.step, clock_timestamp() FROM next n
    )
    SELECT to_jsonb(n) INTO chosen FROM next n;
    IF chosen IS NULL THEN
        -- The end of the call, with the problems of all steps.
        UPDATE jobstats.maintenance a SET took = clock_timestamp() - a.began, affected = 0, problem = nullif(concat_ws('; ',
            (SELECT string_agg(m.step || ': ' || m.problem, '; ' ORDER BY m.began) FROM jobstats.maintenance m
                WHERE m.began >= since AND m.problem IS NOT NULL),
            jobstats_internal.job_problems()), '')
        WHERE a.took IS NULL;
    END IF;
    RETURN chosen;
END
$$;
COMMENT ON FUNCTION jobstats_internal.next_step IS
'Internal: notes in jobstats.maintenance that the next step begins, and returns it as a state; NULL: the call has ended.';

CREATE FUNCTION jobstats_internal.in_use(step text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT 'it is in use' || coalesce(', at every try since ' || date_trunc('second', min(m.began)), '')
FROM jobstats.maintenance m
WHERE m.step = in_use.step AND m.problem LIKE 'it is in use%' AND m.began > coalesce((
    SELECT max(d.began) FROM jobstats.maintenance d WHERE d.step = in_use.step AND d.took IS NOT NULL AND d.problem IS NULL), '-infinity')
$$;
COMMENT ON FUNCTION jobstats_internal.in_use IS
'Internal: the problem of a step that did not get its locks, with the time of the first such failure.';

CREATE FUNCTION jobstats_internal.maintain_step(state jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    counted text;
    after jsonb := state -> 'after';
    again boolean;
BEGIN
    IF state = jsonb '{}' THEN
        PERFORM jobstats_internal.begin_steps();
        RETURN jobstats_internal.next_step(state);
    END IF;
    IF current_setting('lock_timeout') = '0' THEN
        -- Others wait for no longer than it waits for rows.
        PERFORM set_config('lock_timeout', CASE state ->> 'call' WHEN 'settle()' THEN '60s' ELSE '10s' END, true);
    END IF;
    BEGIN
        PERFORM FROM jobstats.locks l WHERE l.name = state ->> 'lock' FOR UPDATE;
        EXECUTE 'SELECT * FROM jobstats_internal.' || (state ->> 'call') INTO counted, after USING after;
        UPDATE jobstats.maintenance m SET affected = coalesce(m.affected, 0) + nullif(counted, '')::bigint
        WHERE m.took IS NULL AND m.step <> 'all' AND counted <> ''
        RETURNING clock_timestamp() < m.began + (state ->> 'lasts')::interval INTO again;
    EXCEPTION
        -- A step that fails must not keep the other steps from being taken.
        WHEN lock_not_available THEN
            IF (state ->> 'try')::integer < (state ->> 'tries')::integer THEN
                PERFORM jobstats_internal.end_step();
            ELSE
                PERFORM jobstats_internal.end_step(CASE WHEN state ->> 'call' = 'settle()' THEN 'a feed has been running for too long'
                    WHEN state ->> 'lasts' IS NULL THEN jobstats_internal.in_use(state ->> 'step') ELSE 'it is in use' END);
            END IF;
        WHEN OTHERS THEN
            PERFORM jobstats_internal.end_step(SQLERRM);
    END;
    IF again THEN
        RETURN state || jsonb_build_object('after', after);
    END IF;
    PERFORM jobstats_internal.end_step();
    RETURN jobstats_internal.next_step(state);
END
$$;
COMMENT ON FUNCTION jobstats_internal.maintain_step IS
'Internal: takes a step of a maintenance, or its next part, and returns the state for the next call; NULL: the end. An empty object begins a maintenance.';

-- The procedure only commits; all other work runs with the rights of the store's owner. It has no SET clause, because a procedure with one
-- cannot commit. Every transaction pins the search path instead.
CREATE PROCEDURE jobstats_maintain()
LANGUAGE plpgsql
AS $$
DECLARE
    state pg_catalog.text := '{}';
BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    PERFORM jobstats_internal.require_store();
    PERFORM jobstats_internal.require_top_level(text 'jobstats_maintain()');
    IF current_setting('lock_timeout') = '0' THEN
        PERFORM set_config('lock_timeout', '60s', true);
    END IF;
    BEGIN
        PERFORM jobstats_internal.begin_maintenance();
    EXCEPTION WHEN lock_not_available THEN
        RAISE WARNING 'another call of jobstats_maintain() is running';
        RETURN;
    END;
    WHILE state IS NOT NULL LOOP
        COMMIT;
        PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
        state := jobstats_internal.as_owner(text 'maintain', state);
    END LOOP;
    PERFORM jobstats_internal.end_maintenance();
    COMMIT;
END
$$;
COMMENT ON PROCEDURE jobstats_maintain IS
'Refreshes rollups and drops old data. Call it every ten minutes (in a front, every minute) as the owner of the store, outside a transaction. A failed step is left to the next call, with a WARNING; jobstats.maintenance lists the steps. Errors: 25001, 2D000, 25006 on a standby, 42501, 55000 no store.';
