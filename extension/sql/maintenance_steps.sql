-- jobstats_maintain(): the steps of maintenance, a transaction each, in the order of a queue.
--
-- An item of the queue names an action. An action may put further items at the head of the queue. The queue travels as jsonb
-- between the procedure, which only commits, and maintain_step(), which runs with the rights of the store's owner. An item has
-- these keys:
--     do         the action, see take_item()
--     step       the name under which jobstats.maintenance records it
--     records    true: writes a row for itself and the items since the last row; false: only if it fails
--     group      items of one group are left to the next call when one of them fails
--     tries      how often it may be taken in this call if what it needs is locked; once, if it does not say
-- and the arguments of its action: level, by_user, from, to, target, relation, horizon, limit, until, again, node, leave_out.

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
COMMENT ON FUNCTION jobstats_internal.require_rows() IS
'Internal: fails with 55000 where a table of the store lacks a row without which maintenance cannot do its work.';

CREATE FUNCTION jobstats_internal.clock_problem() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
-- Two days leave room for maintenance once a day.
SELECT format('the clock of this machine shows %s, which is more than two days after the newest reading and the last maintenance (%s). '
        'Where it is right, SELECT jobstats_setup(); says so', date_trunc('second', now()), date_trunc('second', k.known))
FROM (
    SELECT greatest(r.clock, (SELECT max(t.last_observation) FROM jobstats.targets t)) AS known FROM jobstats.refresh r
) k
WHERE k.known < now() - interval '2 days'
$$;
COMMENT ON FUNCTION jobstats_internal.clock_problem() IS
'Internal: why the clock of the database may be ahead of the true time, so that maintenance would drop what is to be kept; NULL: it is right.';

CREATE FUNCTION jobstats_internal.maintenance_plan() RETURNS jsonb
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    refresh jsonb := '[{"do": "announce", "step": "refresh", "group": "refresh"}, {"do": "settle", "step": "refresh", "group": "refresh", "patience": "60s"}]';
    rest jsonb := '[{"do": "watch", "step": "events", "records": true}, {"do": "forget", "step": "retention", "records": true}, {"do": "plan retention", "step": "retention"},
        {"do": "columns", "step": "columns", "again": false}, {"do": "columns", "step": "columns", "again": true},
        {"do": "sweep", "step": "retention of entries"}, {"do": "check", "step": "check"}]';
BEGIN
    IF (SELECT s.front FROM jobstats.settings s) THEN
        RETURN jsonb_build_object('started', clock_timestamp(), 'queue', (
            SELECT jsonb_agg(jsonb_build_object('do', 'check node', 'step', 'node ' || a.name, 'node', a.name) ORDER BY a.node) FROM jobstats.attached a)
            || jsonb_build_object('do', 'maintenance', 'step', 'retention of maintenance', 'horizon', (SELECT now() - s.rejects_retention FROM jobstats.settings s))
            || jsonb '{"do": "end", "step": "all"}');
    END IF;
    PERFORM jobstats_internal.require_rows();
    IF jobstats_internal.clock_problem() IS NOT NULL THEN
        RETURN jsonb_build_object('started', clock_timestamp(), 'queue', jsonb_build_array(
            jsonb_build_object('do', 'fail', 'step', 'clock', 'problem', jobstats_internal.clock_problem()), jsonb '{"do": "end", "step": "all"}'));
    END IF;
    UPDATE jobstats.refresh SET clock = greatest(clock, now());
    -- TimescaleDB's own refresh ends the whole call when it fails. Then the other steps go first the next time.
    RETURN jsonb_build_object('started', clock_timestamp(), 'queue', jsonb '[{"do": "end idle feeds", "step": "idle feeds"}, {"do": "reidentify", "step": "identification"}, {"do": "people", "step": "retention of people", "records": true}]'
        || CASE WHEN EXISTS (SELECT FROM jobstats.maintenance m WHERE m.problem = jobstats_internal.not_ended())
            THEN rest || refresh ELSE refresh || rest END
        || jsonb '[{"do": "end", "step": "all"}]');
END
$$;
COMMENT ON FUNCTION jobstats_internal.maintenance_plan() IS
'Internal: the state of a maintenance that begins.';

CREATE FUNCTION jobstats_internal.not_ended() RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN text 'it has not come to its end';
COMMENT ON FUNCTION jobstats_internal.not_ended() IS
'Internal: the problem of a refresh by TimescaleDB while it is under way, and when it failed.';

CREATE FUNCTION jobstats_internal.refresh_plan() RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
WITH item AS (
    SELECT b.by_user, jsonb_agg(i.item || jsonb_build_object('level', l.level, 'by_user', b.by_user, 'group', 'refresh',
            'step', format('refresh of rollup_%s%s', l.level, CASE WHEN b.by_user THEN '_users' END))
        ORDER BY l.width, i.number) AS items
    FROM jobstats.rollups l
    CROSS JOIN (VALUES (false), (true)) AS b (by_user)
    CROSS JOIN (VALUES (1, jsonb '{"do": "dirty"}'), (2, '{"do": "advance"}'), (3, '{"do": "nothing", "records": true}')) AS i (number, item)
    -- While users of entries are changing, sums by user that count no more would have to be computed anew again and again.
    WHERE NOT b.by_user OR (SELECT s.keep FROM jobstats.settings s) <> 'counts'
        AND NOT (l.users_refreshed = timestamptz 'epoch' AND jobstats_internal.is_reidentifying())
    GROUP BY b.by_user
)
SELECT (SELECT i.items FROM item i WHERE NOT i.by_user)
    || jsonb '[{"do": "queue unmatched", "step": "match"}, {"do": "match", "step": "match"}, {"do": "advise", "step": "advice", "records": true},
        {"do": "queue summaries", "step": "summaries"}, {"do": "summarize", "step": "summaries"}, {"do": "judge", "step": "findings", "limit": "400 milliseconds"}]'
    || coalesce((SELECT i.items FROM item i WHERE i.by_user), '[]')
    || jsonb '[{"do": "forget dirty", "step": "refresh", "group": "refresh"}]'
$$;
COMMENT ON FUNCTION jobstats_internal.refresh_plan() IS
'Internal: the items that bring all rollups up to date, match what they have with jobs, judge the matches, and then bring the sums by user up to date, if these are kept.';

CREATE FUNCTION jobstats_internal.retention_plan() RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT jsonb_agg(jsonb_build_object('do', p.work, 'step', p.step, 'relation', p.relation, 'horizon', p.horizon, 'records', true,
    'group', CASE WHEN p.relation IN ('evidence', 'raw') AND p.work <> 'partitions' THEN 'raw text' END, 'tries', CASE p.work WHEN 'drop' THEN 3 ELSE 1 END) ORDER BY p.number, p.relation)
FROM (
    SELECT 1 AS number, 'partitions' AS work, 'partitions of ' || t.relation AS step, t.relation, NULL::timestamptz AS horizon
    FROM jobstats_internal.growing_tables() t
    UNION ALL
    SELECT 2, 'drop', 'retention of rollup_' || l.level, 'rollup_' || l.level, l.dropped FROM jobstats.rollups l
    UNION ALL
    -- Sums by user that are not kept, and that nobody reads any more, are all dropped: no chunk ends later than that.
    SELECT 2, 'drop', format('retention of rollup_%s_%s', l.level, o.owner), format('rollup_%s_%s', l.level, o.owner),
        CASE WHEN s.keep = 'counts' AND l.users_refreshed = timestamptz 'epoch' THEN now() + interval '2 years' ELSE l.dropped END
    FROM jobstats.rollups l, jobstats.settings s, (VALUES ('users'), ('accounts'), ('members')) AS o (owner)
    WHERE l.level <> '10m' OR o.owner <> 'members'
    UNION ALL
    SELECT 2, 'drop', format('retention of rollup_%s_targets', l.level), format('rollup_%s_targets', l.level), l.dropped
    FROM jobstats.rollups l
    UNION ALL
    -- Raw text is copied before it is dropped.
    SELECT 3, 'evidence', 'evidence of events', 'evidence', now() - s.raw_retention FROM jobstats.settings s
    UNION ALL
    SELECT CASE t.kept WHEN 'retention' THEN 3 ELSE 4 END, 'drop', 'retention of ' || t.relation, t.relation,
        CASE t.kept WHEN 'retention' THEN r.dropped WHEN 'raw_retention' THEN now() - s.raw_retention END
    FROM jobstats_internal.growing_tables() t, jobstats.refresh r, jobstats.settings s
    UNION ALL
    SELECT 5, 'events', 'retention of events', 'events', now() - s.events_retention FROM jobstats.settings s
    UNION ALL
    SELECT 5, 'rejects', 'retention of rejects', 'rejects', now() - s.rejects_retention FROM jobstats.settings s
    UNION ALL
    SELECT 5, 'sum used', 'used space', 'used', NULL
    UNION ALL
    SELECT 5, 'samples', 'retention of samples', 'samples', NULL
    UNION ALL
    SELECT 5, 'texts', 'retention of texts', 'texts', now() - s.raw_retention FROM jobstats.settings s
    UNION ALL
    SELECT 6, 'maintenance', 'retention of maintenance', 'maintenance', now() - s.rejects_retention FROM jobstats.settings s
    UNION ALL
    SELECT 7, 'jobs', 'retention of jobs', 'jobs', now() - s.jobs_retention FROM jobstats.settings s
    UNION ALL
    SELECT 8, 'indexes', 'indexes by time', 'increments', NULL
) p
$$;
COMMENT ON FUNCTION jobstats_internal.retention_plan() IS
'Internal: the items that make room for the coming days and drop what is too old.';

CREATE FUNCTION jobstats_internal.dirty_items(item jsonb) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
-- Returns a limited number at a time: all spans of a store with thousands of targets would be carried from step to step.
WITH span AS (
    SELECT d.* FROM jobstats_internal.next_dirty(item ->> 'level', (item ->> 'by_user')::boolean,
        (item ->> 'target')::integer, (item ->> 'from')::timestamptz, integer '100') d
)
SELECT jsonb_agg(item || jsonb_build_object('do', 'span', 'target', s.target_id, 'from', s.span_from, 'to', s.span_to)
        ORDER BY coalesce(s.target_id, 0), s.span_from)
    || (SELECT item || jsonb_build_object('target', l.target_id, 'from', l.span_from)
        FROM span l ORDER BY coalesce(l.target_id, 0) DESC, l.span_from DESC LIMIT 1)
FROM span s
$$;
COMMENT ON FUNCTION jobstats_internal.dirty_items(jsonb) IS
'Internal: the items that compute the next spans of a rollup that have changed, and one that goes on with those after them; NULL: none is left.';

CREATE FUNCTION jobstats_internal.day_items(item jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
SELECT jsonb_build_array(
    item || jsonb_build_object('do', 'span', 'from', d.span_from, 'to', d.span_to),
    item || jsonb_build_object('do', 'advanced', 'to', d.span_to),
    item)
FROM jobstats_internal.next_day(item ->> 'level', (item ->> 'by_user')::boolean) d
WHERE d.span_from IS NOT NULL
$$;
COMMENT ON FUNCTION jobstats_internal.day_items(jsonb) IS
'Internal: the items that compute the next day of a rollup, and one that goes on with those after it; NULL: none is left.';

CREATE FUNCTION jobstats_internal.take_span(item jsonb, OUT affected bigint, OUT refresh jsonb)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    level text := item ->> 'level';
    by_user boolean := item ->> 'by_user';
    low timestamptz := item ->> 'from';
    high timestamptz := item ->> 'to';
    target integer := item ->> 'target';
BEGIN
    affected := 0;
    -- Setup and jobstats_reidentify() take the same lock.
    PERFORM jobstats_internal.lock_store();
    affected := jobstats_internal.roll_up(level, by_user, low, high, target);
END
$$;
COMMENT ON FUNCTION jobstats_internal.take_span(jsonb) IS
'Internal: computes a span of a rollup; where TimescaleDB has to compute it, refresh says what. Then it fails with 42501 in the session of a superuser for an owner who is none.';

CREATE FUNCTION jobstats_internal.take_item(item jsonb, OUT affected bigint, OUT more jsonb, OUT refresh jsonb)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    relation text := item ->> 'relation';
    horizon timestamptz := item ->> 'horizon';
BEGIN
    CASE item ->> 'do'
        WHEN 'check node' THEN
            more := jobstats_internal.node_items(item);
        WHEN 'turn node' THEN
            PERFORM jobstats_internal.turn_node(item ->> 'node', (item ->> 'leave_out')::boolean);
        WHEN 'end idle feeds' THEN
            PERFORM jobstats_internal.end_idle_feeds();
        WHEN 'announce' THEN
            PERFORM jobstats_internal.announce();
        WHEN 'settle' THEN
            PERFORM jobstats_internal.settle();
            more := jobstats_internal.refresh_plan();
        WHEN 'dirty' THEN
            more := jobstats_internal.dirty_items(item);
        WHEN 'advance' THEN
            more := jobstats_internal.day_items(item);
        WHEN 'span' THEN
            SELECT * INTO affected, refresh FROM jobstats_internal.take_span(item);
        WHEN 'refreshed' THEN
            DELETE FROM jobstats.maintenance m WHERE m.step = item ->> 'step' AND m.problem = jobstats_internal.not_ended();
        WHEN 'advanced' THEN
            UPDATE jobstats.rollups l
            SET refreshed = CASE WHEN i.by_user THEN l.refreshed ELSE greatest(l.refreshed, i.instant) END,
                users_refreshed = CASE WHEN i.by_user THEN greatest(l.users_refreshed, i.instant) ELSE l.users_refreshed END
            FROM (SELECT (item ->> 'by_user')::boolean AS by_user, (item ->> 'to')::timestamptz AS instant) i
            WHERE l.level = item ->> 'level';
        WHEN 'reidentify' THEN
            affected := jobstats_internal.reidentify_some();
            more := jobstats_internal.part_items(item, affected);
        WHEN 'watch' THEN
            affected := coalesce(jobstats_internal.watch(), 0);
        WHEN 'queue unmatched' THEN
            affected := jobstats_internal.queue_unmatched();
        WHEN 'match' THEN
            -- Feeds of jobs match, too.
            PERFORM FROM jobstats.locks l WHERE l.name = 'jobs' FOR UPDATE;
            affected := jobstats_internal.match_some();
            more := jobstats_internal.match_items(item, affected);
        WHEN 'queue summaries' THEN
            PERFORM jobstats_internal.queue_changed_summaries();
        WHEN 'summarize' THEN
            affected := jobstats_internal.summarize_some();
            more := jobstats_internal.match_items(item, affected);
        WHEN 'advise' THEN
            affected := jobstats_internal.advise();
        WHEN 'judge' THEN
            SELECT * INTO affected, more FROM jobstats_internal.judge_item(item);
        WHEN 'forget dirty' THEN
            DELETE FROM jobstats.dirty d WHERE d.known;
            -- Only maintenance matches, and it has done so before it computed the sums by user.
            DELETE FROM jobstats.dirty_users u;
        WHEN 'forget' THEN
            affected := jobstats_internal.forget();
        WHEN 'plan retention' THEN
            PERFORM jobstats_internal.forget_roles();
            more := jobstats_internal.retention_plan();
        WHEN 'partitions' THEN
            PERFORM jobstats_internal.lock_store();
            affected := jobstats_internal.add_partitions(relation, text 'day', now(), now() + interval '3 days');
        WHEN 'drop' THEN
            PERFORM jobstats_internal.lock_store();
            affected := jobstats_internal.drop_before(relation, horizon);
        WHEN 'rejects' THEN
            DELETE FROM jobstats.rejects r WHERE r.received < horizon;
            GET DIAGNOSTICS affected = ROW_COUNT;
        WHEN 'evidence' THEN
            affected := jobstats_internal.keep_evidence(horizon);
        WHEN 'events' THEN
            affected := jobstats_internal.forget_events(horizon);
        WHEN 'maintenance' THEN
            DELETE FROM jobstats.maintenance m WHERE m.began < horizon;
            GET DIAGNOSTICS affected = ROW_COUNT;
        WHEN 'jobs' THEN
            -- Feeds of jobs lock them in another order.
            PERFORM FROM jobstats.locks l WHERE l.name = 'jobs' FOR UPDATE;
            WITH gone AS (
                DELETE FROM jobstats.jobs j WHERE j.ended < horizon OR j.ended IS NULL AND j.updated < horizon RETURNING j.job
            ), queued AS (
                INSERT INTO jobstats.to_match (job) SELECT DISTINCT g.job FROM gone g
            )
            SELECT count(*) INTO affected FROM gone g;
            DELETE FROM jobstats.schedulers s
            WHERE NOT EXISTS (SELECT FROM jobstats.jobs j WHERE j.scheduler = s.scheduler);
            -- Of the time before the horizon, nobody can say any more that accounting was read.
            DELETE FROM jobstats.covered c WHERE c.until < horizon;
            UPDATE jobstats.covered c SET since = horizon WHERE c.since < horizon;
        WHEN 'people' THEN
            affected := jobstats_internal.forget_people();
        WHEN 'sum used' THEN
            affected := jobstats_internal.sum_used();
        WHEN 'samples' THEN
            affected := jobstats_internal.forget_samples();
        WHEN 'texts' THEN
            PERFORM FROM jobstats.locks l WHERE l.name = 'jobs' FOR UPDATE;
            affected := jobstats_internal.forget_texts(horizon);
        WHEN 'indexes' THEN
            PERFORM jobstats_internal.lock_store();
            affected := jobstats_internal.summarize_ranges();
        WHEN 'columns' THEN
            SELECT jobstats_internal.compress_before(now() - greatest(s.compress_after, s.raw_retention), (item ->> 'again')::boolean)
            INTO relation FROM jobstats.settings s;
            affected := CASE WHEN relation IS NOT NULL THEN 1 END;
            more := jobstats_internal.pack_items(item, relation);
        WHEN 'sweep' THEN
            affected := jobstats_internal.sweep();
            more := jobstats_internal.sweep_items(item, affected);
            affected := CASE WHEN affected > 0 THEN affected ELSE 0 END;
        WHEN 'check' THEN
            more := jobstats_internal.check_items(item);
        WHEN 'fail' THEN
            RAISE data_exception USING MESSAGE = item ->> 'problem';
        WHEN 'nothing' THEN
            NULL;
    END CASE;
END
$$;
COMMENT ON FUNCTION jobstats_internal.take_item(jsonb) IS
'Internal: does what an item of the queue says; affected counts what it wrote or dropped, more are items to be taken next.';

CREATE FUNCTION jobstats_internal.match_items(item jsonb, matched bigint) RETURNS jsonb
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
-- The first accounting of a large site may take minutes.
SELECT CASE WHEN matched > 0 AND l.until > clock_timestamp() THEN jsonb_build_array(item || jsonb_build_object('until', l.until))
    ELSE jsonb_build_array(item || jsonb '{"do": "nothing", "records": true}') END
FROM (SELECT coalesce((item ->> 'until')::timestamptz, clock_timestamp() + interval '2 minutes') AS until) l
$$;
COMMENT ON FUNCTION jobstats_internal.match_items(jsonb, bigint) IS
'Internal: the item that follows on a batch of numbers or jobs, of which so many were matched or summed up.';

CREATE FUNCTION jobstats_internal.part_items(item jsonb, done bigint) RETURNS jsonb
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
-- The rest of a very large store is left to the next call.
SELECT CASE
    WHEN done IS NULL AND item ->> 'until' IS NULL THEN NULL
    WHEN done IS NULL OR l.until < clock_timestamp() THEN jsonb_build_array(item || jsonb '{"do": "nothing", "records": true}')
    ELSE jsonb_build_array(item || jsonb_build_object('until', l.until))
END
FROM (SELECT coalesce((item ->> 'until')::timestamptz, clock_timestamp() + coalesce((item ->> 'limit')::interval, interval '2 minutes')) AS until) l
$$;
COMMENT ON FUNCTION jobstats_internal.part_items(jsonb, bigint) IS
'Internal: the item that follows on a part of what is done in parts, in which so much was done; NULL: no part was left.';

CREATE FUNCTION jobstats_internal.sweep_items(item jsonb, deleted bigint) RETURNS jsonb
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
-- The sweep works for a few seconds per call.
WITH limits AS (
    SELECT coalesce((item ->> 'until')::timestamptz, clock_timestamp() + interval '5 seconds') AS until
)
SELECT CASE
    WHEN deleted IS NULL AND item ->> 'until' IS NULL THEN NULL
    WHEN deleted < 0 THEN jsonb_build_array(item || jsonb '{"do": "fail", "problem": "feeds have been running all the time"}')
    WHEN deleted IS NULL OR l.until < clock_timestamp() OR (SELECT s.after IS NULL FROM jobstats.sweep s)
        THEN jsonb_build_array(item || jsonb '{"do": "nothing", "records": true}')
    ELSE jsonb_build_array(item || jsonb_build_object('until', l.until))
END
FROM limits l
$$;
COMMENT ON FUNCTION jobstats_internal.sweep_items(jsonb, bigint) IS
'Internal: the item that follows on a batch of entries, of which so many were deleted.';

CREATE FUNCTION jobstats_internal.check_items(item jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
-- Once a day, and in every call while something is lost.
SELECT jsonb_build_array(CASE WHEN c.lost IS NULL THEN item || jsonb '{"do": "nothing", "records": true}'
    ELSE item || jsonb_build_object('do', 'fail', 'problem', c.lost || ', which was summed before: restore it from a backup') END)
FROM (SELECT jobstats_internal.lost_rollups() AS lost OFFSET 0) c
WHERE NOT EXISTS (
    SELECT FROM jobstats.maintenance m WHERE m.step = item ->> 'step' AND m.problem IS NULL AND m.began > now() - interval '1 day')
$$;
COMMENT ON FUNCTION jobstats_internal.check_items(jsonb) IS
'Internal: the item that records whether rollups still have what was summed, or that they do not; NULL: that was checked today.';

CREATE FUNCTION jobstats_internal.in_use(step text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT 'it is in use' || coalesce(', at every try since ' || date_trunc('second', min(m.began)), '')
FROM jobstats.maintenance m
WHERE m.step = in_use.step AND m.problem LIKE 'it is in use%' AND m.began > coalesce((
    SELECT max(d.began) FROM jobstats.maintenance d WHERE d.step = in_use.step AND d.problem IS NULL), '-infinity')
$$;
COMMENT ON FUNCTION jobstats_internal.in_use(text) IS
'Internal: the problem of a step that did not get its locks, and since when it has not got them. The step is one of those that each call records.';

CREATE FUNCTION jobstats_internal.maintain_step(state jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    item jsonb := state #> '{queue,0}';
    began timestamptz := clock_timestamp();
    done record;
    failure text;
BEGIN
    IF state = jsonb '{}' THEN
        RETURN jobstats_internal.maintenance_plan();
    ELSIF item IS NULL THEN
        RETURN NULL;
    ELSIF item ->> 'do' = 'end' THEN
        -- It has come to its end, with all its problems.
        INSERT INTO jobstats.maintenance (step, began, took, affected, problem)
        SELECT 'all', s.started, clock_timestamp() - s.started, 0, nullif(concat_ws('; ',
            (SELECT string_agg(m.step || ': ' || m.problem, '; ' ORDER BY m.began) FROM jobstats.maintenance m
                WHERE m.began >= s.started AND m.problem IS NOT NULL),
            jobstats_internal.foreign_policies(), jobstats_internal.failing_job(), jobstats_internal.realtime_problem()), '')
        FROM (SELECT (state ->> 'started')::timestamptz AS started) s;
        RETURN NULL;
    END IF;
    state := state - 'refresh' #- '{queue,0}';
    IF current_setting('lock_timeout') = '0' THEN
        -- Of what waits for rows, nobody else waits for longer.
        PERFORM set_config('lock_timeout', coalesce(item ->> 'patience', '10s'), true);
    END IF;
    BEGIN
        done := jobstats_internal.take_item(item);
    EXCEPTION
        -- A step that fails must not keep the other steps from being taken.
        WHEN lock_not_available THEN
            IF (item ->> 'tries')::integer > 1 THEN
                -- Once more, when all others have been taken.
                item := item || jsonb_build_object('tries', (item ->> 'tries')::integer - 1);
                RETURN jsonb_set(state, '{queue}', jsonb_insert(state -> 'queue', '{-1}', item));
            END IF;
            failure := CASE WHEN item ->> 'do' = 'settle' THEN 'a feed has been running for long'
                WHEN (item ->> 'records')::boolean THEN jobstats_internal.in_use(item ->> 'step') ELSE 'it is in use' END;
        WHEN OTHERS THEN
            failure := SQLERRM;
    END;
    IF failure IS NOT NULL THEN
        RAISE WARNING '%: %; the next call of jobstats_maintain() tries again', item ->> 'step', failure;
        INSERT INTO jobstats.maintenance (step, began, took, affected, problem)
        VALUES (item ->> 'step', began, clock_timestamp() - began, 0, failure);
        RETURN jsonb_set(state - 'since' - 'affected', '{queue}', coalesce((
            SELECT jsonb_agg(q.other ORDER BY q.number)
            FROM jsonb_array_elements(state -> 'queue') WITH ORDINALITY AS q (other, number)
            WHERE item ->> 'group' IS NULL OR q.other ->> 'group' IS DISTINCT FROM item ->> 'group'), '[]'));
    END IF;
    IF done.refresh IS NOT NULL THEN
        INSERT INTO jobstats.maintenance (step, began, took, affected, problem)
        VALUES (item ->> 'step', began, interval '0', 0, jobstats_internal.not_ended());
        state := state || jsonb_build_object('refresh', done.refresh);
        done.more := jsonb_build_array(item || jsonb '{"do": "refreshed"}');
    END IF;
    IF done.affected IS NOT NULL AND state -> 'since' IS NULL THEN
        state := state || jsonb_build_object('since', began);
    END IF;
    state := state || jsonb_build_object('queue', coalesce(done.more, '[]') || (state -> 'queue'),
        'affected', coalesce((state ->> 'affected')::bigint, 0) + coalesce(done.affected, 0));
    IF (item ->> 'records')::boolean THEN
        INSERT INTO jobstats.maintenance (step, began, took, affected)
        SELECT item ->> 'step', s.since, clock_timestamp() - s.since, (state ->> 'affected')::bigint
        FROM (SELECT coalesce((state ->> 'since')::timestamptz, began) AS since) s;
        state := state - 'since' - 'affected';
    END IF;
    RETURN state;
END
$$;
COMMENT ON FUNCTION jobstats_internal.maintain_step(jsonb) IS
'Internal: takes the first item of the queue of a maintenance, records it, and returns the state that is left; NULL: nothing is. An empty object begins one. Where the state has a key refresh, TimescaleDB has to compute that before the next item.';

-- The procedure only commits and calls TimescaleDB; all other work runs with the rights of the store's owner. It has no
-- SET clause, because a procedure with one cannot commit. Every transaction pins the search path instead.
CREATE PROCEDURE jobstats_maintain()
LANGUAGE plpgsql
AS $$
DECLARE
    state pg_catalog.jsonb := '{}';
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
    LOOP
        COMMIT;
        PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
        state := jobstats_internal.as_owner(text 'maintain', state::text)::jsonb;
        EXIT WHEN state IS NULL;
        IF state ? 'refresh' THEN
            COMMIT;
            PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
            PERFORM pg_catalog.set_config('jit', 'off', true);
            CALL jobstats_internal.refresh_aggregate(
                state #>> '{refresh,relation}', (state #>> '{refresh,from}')::timestamptz, (state #>> '{refresh,to}')::timestamptz);
        END IF;
    END LOOP;
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    PERFORM jobstats_internal.end_maintenance();
    COMMIT;
END
$$;
COMMENT ON PROCEDURE jobstats_maintain() IS
'Refreshes rollups and drops old data. Call it every ten minutes (in a front, every minute) as the owner of the store, outside a transaction. A failed step is left to the next call, with a WARNING; jobstats.maintenance lists the steps. Errors: 25001, 2D000, 25006 on a standby, 42501, 55000 no store.';
