CREATE FUNCTION jobstats_internal.rollup_retention(width interval) RETURNS interval
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN count(*) = count(l.retention) THEN greatest(max(l.retention), (SELECT s.retention FROM jobstats.settings s)) END
FROM jobstats.rollups l WHERE l.width <= rollup_retention.width
$$;
COMMENT ON FUNCTION jobstats_internal.rollup_retention IS
'Internal: how long a rollup is retained: at least as long as increments and the rollups that it sums; NULL: for ever.';

CREATE FUNCTION jobstats_internal.forget() RETURNS integer
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    gone integer;
BEGIN
    -- Increments that rollups have not summed yet, or that a feed may change before it knows the horizon, are retained however
    -- old they are.
    UPDATE jobstats.refresh r
    SET dropped = greatest(r.dropped, least(r.horizon, (
        SELECT jobstats_internal.bucket(interval '1 day', least(min(l.refreshed), (SELECT min(d.span_from) FROM jobstats.dirty d)))
        FROM jobstats.rollups l)))
    WHERE r.settled = r.number;
    UPDATE jobstats.rollups l
    SET dropped = greatest(l.dropped, least(
        jobstats_internal.bucket(interval '1 day', now() - jobstats_internal.rollup_retention(l.width)), r.dropped,
        (SELECT jobstats_internal.bucket(interval '1 day', min(n.refreshed)) FROM jobstats.rollups n WHERE n.width > l.width)))
    FROM jobstats.refresh r
    WHERE jobstats_internal.rollup_retention(l.width) IS NOT NULL;

    -- Spans of observation are retained as long as rollups, and open spans until the target comes back.
    DELETE FROM jobstats.spans s WHERE s.until <= (SELECT min(l.dropped) FROM jobstats.rollups l);
    GET DIAGNOSTICS gone = ROW_COUNT;
    DELETE FROM jobstats.coarse c WHERE c.span_to <= (SELECT min(l.dropped) FROM jobstats.rollups l);
    RETURN gone;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget IS
'Internal: advances the times before which increments, observations, rollups and spans are expired. Expired rows are no longer read; drop_before() drops them.';

-- Deletes entries without increments or rollups, and forgets the owners of idle ones, in the order of their keys, a batch per
-- transaction.
CREATE FUNCTION jobstats_internal.unused_entries(candidates bigint[], low bigint, high bigint, since timestamptz) RETURNS SETOF bigint
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    unsummed timestamptz;
BEGIN
    -- Increments that are older than this are in the rollups.
    SELECT least(l.refreshed, (SELECT min(d.span_from) FROM jobstats.dirty d)) INTO unsummed
    FROM jobstats.rollups l WHERE l.level = '10m';
    -- One condition on all keys lets TimescaleDB read columnar chunks in parts.
    RETURN QUERY
    SELECT c.entry_id
    FROM unnest(candidates) AS c (entry_id)
    WHERE NOT EXISTS (SELECT FROM jobstats.increments i WHERE i."time" > unsummed AND i.entry_id = c.entry_id)
        AND NOT EXISTS (SELECT FROM jobstats.rollup_1d r
            WHERE r.entry_id = c.entry_id AND r.entry_id > low AND r.entry_id <= high AND r.bucket >= since)
        AND NOT EXISTS (SELECT FROM jobstats.rollup_1h r
            WHERE r.entry_id = c.entry_id AND r.entry_id > low AND r.entry_id <= high AND r.bucket >= since)
        AND NOT EXISTS (SELECT FROM jobstats.rollup_10m r
            WHERE r.entry_id = c.entry_id AND r.entry_id > low AND r.entry_id <= high AND r.bucket >= since);
END
$$;
COMMENT ON FUNCTION jobstats_internal.unused_entries IS 'Internal: the entries of these, with keys in (low, high], that have no rows since a time.';

CREATE FUNCTION jobstats_internal.sweep_entries(horizon timestamptz, people_since timestamptz) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    batch CONSTANT integer := 10000;
    low bigint;
    high bigint;
    seen integer;
    candidates bigint[];
    idle bigint[];
    gone bigint := 0;
BEGIN
    SELECT coalesce(s.after, -9223372036854775808) INTO low FROM jobstats.sweep s;
    SELECT count(*), max(e.entry_id), array_agg(e.entry_id) FILTER (WHERE e.first_seen < horizon),
        array_agg(e.entry_id) FILTER (WHERE e.first_seen < people_since AND e.status <> 'forgotten')
    INTO seen, high, candidates, idle
    FROM (SELECT e.entry_id, e.first_seen, e.status FROM jobstats.entries e WHERE e.entry_id > low ORDER BY e.entry_id LIMIT batch) e;
    SELECT array_agg(u.entry_id) INTO candidates FROM jobstats_internal.unused_entries(candidates, low, high, timestamptz '-infinity') AS u (entry_id);
    idle := ARRAY(SELECT jobstats_internal.unused_entries(idle, low, high, people_since));
    IF candidates IS NOT NULL OR idle <> '{}' THEN
        -- Feeds that have found one of these entries must have committed. Later feeds check whether the entry is
        -- still there, and do not wait.
        PERFORM jobstats_internal.lock_entries();
        -- The matching of jobs locks entries in the same order.
        PERFORM FROM jobstats.entries e WHERE e.entry_id = ANY (candidates || idle) ORDER BY e.entry_id FOR UPDATE;
        WITH deleted AS (
            DELETE FROM jobstats.entries e
            WHERE e.entry_id IN (SELECT jobstats_internal.unused_entries(candidates, low, high, timestamptz '-infinity'))
            RETURNING e.entry_id
        ), unmatched AS (
            DELETE FROM jobstats.entry_jobs j USING deleted d WHERE j.entry_id = d.entry_id
        )
        SELECT count(*) INTO gone FROM deleted d;
        -- Now no feed relies on an entry that it has found.
        idle := ARRAY(SELECT jobstats_internal.unused_entries(ARRAY(SELECT unnest(idle) EXCEPT SELECT unnest(candidates)), low, high, people_since));
        PERFORM jobstats_internal.forget_idle_entries(idle);
        gone := gone + cardinality(idle);
    END IF;
    UPDATE jobstats.sweep s
    SET after = CASE WHEN seen = batch THEN high END, ended = CASE WHEN seen = batch THEN s.ended ELSE now() END,
        deleted = s.deleted + gone;
    RETURN gone;
END
$$;
COMMENT ON FUNCTION jobstats_internal.sweep_entries IS
'Internal: deletes entries without rows among the next 10,000 that were first seen before the horizon, and forgets the owners of those idle since another time; returns their number. Error: 55006 if feeds are in the way.';

CREATE FUNCTION jobstats_internal.sweep() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    horizon timestamptz := (SELECT min(l.dropped) FROM jobstats.rollups l);
    people_since timestamptz := now() - jobstats_internal.people_kept_for();
BEGIN
    -- One pass per day.
    IF horizon = timestamptz 'epoch' AND NOT EXISTS (SELECT FROM jobstats.rollup_1d r WHERE r.bucket < people_since) OR EXISTS (
        SELECT FROM jobstats.sweep s WHERE s.after IS NULL AND s.ended > now() - interval '1 day')
    THEN
        RETURN NULL;
    END IF;
    PERFORM jobstats_internal.lock_store();
    RETURN jobstats_internal.sweep_entries(horizon, people_since);
END
$$;
COMMENT ON FUNCTION jobstats_internal.sweep IS
'Internal: deletes entries without rows from the next batch, and returns their number; NULL: the pass of the day is complete.';

-- Used space, gauges and sums of services.
CREATE FUNCTION jobstats_internal.sum_used() RETURNS bigint
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
-- From here on feeds do not replace these lists; later lists are added to the sums.
UPDATE jobstats.used_lists l SET summed = true
FROM jobstats.settings s
WHERE NOT l.summed AND l.day < ((now() - s.refresh_lag) AT TIME ZONE 'UTC')::date;
WITH gone AS (
    DELETE FROM jobstats.used_first f USING jobstats.used_lists l
    WHERE l.target_id = f.target_id AND l.kind = f.kind AND l.day = f.day AND l.summed
    RETURNING f.*
), written AS (
    INSERT INTO jobstats.used AS used (day, cluster, filesystem, kind, id, kbytes, inodes, targets)
    -- Inodes of an OST are objects, not files.
    SELECT g.day, t.cluster, coalesce(t.filesystem, ''), g.kind, g.id, sum(g.kbytes), sum(g.inodes) FILTER (WHERE t.kind = 'MDT'), count(*)
    FROM gone g JOIN jobstats.targets t ON t.target_id = g.target_id
    GROUP BY g.day, t.cluster, coalesce(t.filesystem, ''), g.kind, g.id
    ON CONFLICT (day, kind, cluster, filesystem, id) DO UPDATE
    SET kbytes = used.kbytes + excluded.kbytes, inodes = coalesce(used.inodes + excluded.inodes, used.inodes, excluded.inodes),
        targets = used.targets + excluded.targets
    RETURNING 1
)
SELECT count(*) FROM written
$$;
COMMENT ON FUNCTION jobstats_internal.sum_used IS
'Internal: sums the first lists of used space of complete days, and returns the number of sums written.';

CREATE FUNCTION jobstats_internal.forget_samples() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    hours timestamptz := (SELECT l.dropped FROM jobstats.rollups l WHERE l.level = '1h');
    minutes timestamptz := (SELECT l.dropped FROM jobstats.rollups l WHERE l.level = '10m');
    days timestamptz := (SELECT l.dropped FROM jobstats.rollups l WHERE l.level = '1d');
    silent timestamptz := (SELECT now() - s.jobs_retention FROM jobstats.settings s);
    idle timestamptz := (SELECT now() - s.raw_retention - interval '1 hour' FROM jobstats.settings s);
    gone bigint;
    all_gone bigint := 0;
    statement text;
BEGIN
    FOREACH statement IN ARRAY ARRAY[
        'DELETE FROM jobstats.server_hours h WHERE h.bucket <= $1',
        'DELETE FROM jobstats.samples_1h h WHERE h.bucket <= $1',
        'DELETE FROM jobstats.samples_1d d WHERE d.bucket <= $2',
        'DELETE FROM jobstats.energy e WHERE e.bucket <= $5',
        'DELETE FROM jobstats.used u WHERE u.day < ($2 AT TIME ZONE ''UTC'')::date',
        -- Servers that are gone, or names that a server made up.
        'WITH series AS (DELETE FROM jobstats.sample_series s WHERE s."time" < $3 RETURNING s.series_id),
            hours AS (DELETE FROM jobstats.samples_1h h USING series s WHERE h.series_id = s.series_id),
            readings AS (DELETE FROM jobstats.energy e USING series s WHERE e.series_id = s.series_id)
        DELETE FROM jobstats.samples_1d d USING series s WHERE d.series_id = s.series_id',
        'DELETE FROM jobstats.used_now u USING (
            SELECT l.target_id, l.kind FROM jobstats.used_lists l GROUP BY l.target_id, l.kind HAVING max(l.last) < $3) l
        WHERE l.target_id = u.target_id AND l.kind = u.kind',
        'DELETE FROM jobstats.used_lists l WHERE l.summed AND l.last < least($3, $2)',
        -- A feed that waits for its row recreates it.
        'DELETE FROM jobstats.locks l WHERE l.name IN (
            SELECT k.name FROM jobstats.locks k
            WHERE k.name LIKE ''server %'' AND NOT EXISTS (
                SELECT FROM (
                    SELECT format(''server %L/%L'', h.cluster, h.server) AS name FROM jobstats.server_hours h WHERE h.bucket > $4
                    UNION ALL
                    SELECT format(''server %L/%L'', s.cluster, s.server) FROM jobstats.sample_series s WHERE s."time" > $4
                ) alive
                WHERE alive.name = k.name)
            FOR UPDATE OF k SKIP LOCKED)']
    LOOP
        EXECUTE statement USING hours, days, silent, idle, minutes;
        GET DIAGNOSTICS gone = ROW_COUNT;
        all_gone := all_gone + gone;
    END LOOP;
    RETURN all_gone;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_samples IS
'Internal: deletes expired sums of services, gauges and used space, and returns the number of rows.';

CREATE FUNCTION jobstats_internal.forget_events(horizon timestamptz DEFAULT jobstats_internal.kept_since('events_retention')) RETURNS bigint
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
-- Late text is judged by the baseline of its day.
DELETE FROM jobstats.baseline_waits u WHERE u.day < (now() - interval '60 days')::date;
DELETE FROM jobstats.baseline_probes u WHERE u.day < (now() - interval '60 days')::date;
DELETE FROM jobstats.baseline_largest u WHERE u.day < (now() - interval '60 days')::date;
DELETE FROM jobstats.baseline_calls u WHERE u.day < (now() - interval '60 days')::date;
DELETE FROM jobstats.windows w WHERE w.until < horizon;
WITH gone AS (DELETE FROM jobstats.events e WHERE e.until < horizon RETURNING 1)
SELECT count(*) FROM gone
$$;
COMMENT ON FUNCTION jobstats_internal.forget_events IS
'Internal: deletes events and maintenance windows that ended before a time, and old baselines; returns the number of events.';

CREATE FUNCTION jobstats_internal.forget_rejects() RETURNS bigint
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
WITH gone AS (DELETE FROM jobstats.rejects r WHERE r.received < (SELECT jobstats_internal.kept_since('rejects_retention')) RETURNING 1)
SELECT count(*) FROM gone
$$;
COMMENT ON FUNCTION jobstats_internal.forget_rejects IS
'Internal: deletes rejects that are older than settings.rejects_retention, and returns their number.';

CREATE FUNCTION jobstats_internal.forget_maintenance() RETURNS bigint
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
WITH gone AS (
    DELETE FROM jobstats.maintenance m
    WHERE m.began < (SELECT least(a.began, jobstats_internal.kept_since('rejects_retention')) FROM jobstats.maintenance a WHERE a.took IS NULL AND a.step = 'all')
    RETURNING 1
)
SELECT count(*) FROM gone
$$;
COMMENT ON FUNCTION jobstats_internal.forget_maintenance IS
'Internal: deletes steps of earlier calls that are older than settings.rejects_retention, and returns their number.';

CREATE FUNCTION jobstats_internal.forget_ended_jobs() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    horizon timestamptz := jobstats_internal.kept_since('jobs_retention');
    affected bigint;
BEGIN
    WITH gone AS (
        DELETE FROM jobstats.jobs j WHERE j.ended < horizon OR j.ended IS NULL AND j.updated < horizon RETURNING j.job
    ), queued AS (
        INSERT INTO jobstats.to_match (job) SELECT DISTINCT g.job FROM gone g
    )
    SELECT count(*) INTO affected FROM gone g;
    DELETE FROM jobstats.schedulers s
    WHERE NOT EXISTS (SELECT FROM jobstats.jobs j WHERE j.scheduler = s.scheduler);
    -- Accounting before the horizon is no longer known.
    DELETE FROM jobstats.covered c WHERE c.until < horizon;
    UPDATE jobstats.covered c SET since = horizon WHERE c.since < horizon;
    RETURN affected;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_ended_jobs IS
'Internal: deletes jobs that ended before settings.jobs_retention, and returns their number. The caller holds the lock on jobs, which feeds of jobs lock in another order.';
