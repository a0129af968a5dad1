-- Deletes entries that neither increments nor rollups refer to, and forgets whose those are that have long been idle. It goes through the entries in the order of their keys,
-- a batch per transaction.

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
COMMENT ON FUNCTION jobstats_internal.unused_entries(bigint[], bigint, bigint, timestamptz) IS
'Internal: which of these entries, whose keys lie in (low, high], nothing refers to that is of a time since then.';

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
    tries integer := 0;
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
        LOOP
            PERFORM FROM jobstats.locks l WHERE l.name = 'entries' FOR UPDATE SKIP LOCKED;
            EXIT WHEN FOUND;
            tries := tries + 1;
            IF tries = 100 THEN
                RETURN NULL;
            END IF;
            PERFORM pg_sleep(0.01);
        END LOOP;
        -- Who matches jobs locks entries in the same order.
        PERFORM FROM jobstats.entries e WHERE e.entry_id = ANY (candidates || idle) ORDER BY e.entry_id FOR UPDATE;
        WITH deleted AS (
            DELETE FROM jobstats.entries e
            WHERE e.entry_id IN (SELECT jobstats_internal.unused_entries(candidates, low, high, timestamptz '-infinity'))
            RETURNING e.entry_id
        ), unmatched AS (
            DELETE FROM jobstats.entry_jobs j USING deleted d WHERE j.entry_id = d.entry_id
        )
        SELECT count(*) INTO gone FROM deleted d;
        -- Now that no feed relies on what it has found.
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
COMMENT ON FUNCTION jobstats_internal.sweep_entries(timestamptz, timestamptz) IS
'Internal: deletes those of the next 10,000 entries that were first seen before the horizon and that nothing refers to, and takes from those that have been idle since another time whose they are; returns their number, NULL where feeds are in the way.';

CREATE FUNCTION jobstats_internal.sweep() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    horizon timestamptz := (SELECT min(l.dropped) FROM jobstats.rollups l);
    people_since timestamptz := jobstats_internal.people_kept_since();
BEGIN
    -- One pass per day.
    IF horizon = timestamptz 'epoch' AND NOT EXISTS (SELECT FROM jobstats.rollup_1d r WHERE r.bucket < people_since) OR EXISTS (
        SELECT FROM jobstats.sweep s WHERE s.after IS NULL AND s.ended > now() - interval '1 day')
    THEN
        RETURN NULL;
    END IF;
    PERFORM jobstats_internal.lock_store();
    RETURN coalesce(jobstats_internal.sweep_entries(horizon, people_since), -1);
END
$$;
COMMENT ON FUNCTION jobstats_internal.sweep() IS
'Internal: deletes entries of the next batch that nothing refers to any more, and returns their number; NULL: there is nothing to look through, -1: feeds are in the way.';
