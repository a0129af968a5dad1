-- Locks of concurrent work on the store. They are row locks in jobstats.locks, a table that only the owner of the store
-- can lock; advisory locks could be taken by any role.

CREATE FUNCTION jobstats_internal.lock_store() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM jobstats.locks l WHERE l.name = 'store' FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE object_not_in_prerequisite_state USING MESSAGE = 'jobstats.locks has lost a row',
            HINT = 'Run SELECT jobstats_setup(); it restores missing rows.';
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.lock_store IS
'Internal: waits for a setup, a step of maintenance or a conversion, and blocks the next one until the transaction ends.';

CREATE FUNCTION jobstats_internal.lock_entries() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    FOR try IN 1..100 LOOP
        PERFORM FROM jobstats.locks l WHERE l.name = 'entries' FOR UPDATE SKIP LOCKED;
        IF FOUND THEN
            RETURN;
        END IF;
        PERFORM pg_sleep(0.01);
    END LOOP;
    RAISE object_in_use USING MESSAGE = 'feeds are running';
END
$$;
COMMENT ON FUNCTION jobstats_internal.lock_entries IS
'Internal: waits until no feed is storing entries, and blocks them until the transaction ends. Error: 55006 after a second.';

CREATE FUNCTION jobstats_internal.await_entries() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- Feeds do not wait for this: the failing block releases the lock.
    PERFORM jobstats_internal.lock_entries();
    RAISE SQLSTATE 'JSOK0';
EXCEPTION WHEN SQLSTATE 'JSOK0' THEN
    RETURN;
END
$$;
COMMENT ON FUNCTION jobstats_internal.await_entries IS
'Internal: waits until no feed is storing entries, so that later feeds see all commits up to now. Error: 55006 as lock_entries().';

CREATE FUNCTION jobstats_internal.create_schema() RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    CREATE SCHEMA jobstats;
    RETURN true;
EXCEPTION WHEN duplicate_schema OR unique_violation THEN
    RETURN false;
END
$$;
COMMENT ON FUNCTION jobstats_internal.create_schema IS
'Internal: creates the schema of the store; false: another transaction has just created it, and has committed.';

-- Runs with the rights of the extension's owner, a superuser: PostgreSQL shows other roles no age of a snapshot.
CREATE FUNCTION jobstats_internal.snapshots() RETURNS TABLE (pid integer, oldest xid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
SELECT a.pid, a.backend_xmin
FROM pg_stat_activity a
WHERE a.backend_xmin IS NOT NULL AND a.datname = current_database() AND a.pid <> pg_backend_pid()
    AND a.backend_type IS DISTINCT FROM 'autovacuum worker'
    -- A maintenance that waits for another one commits before it reads.
    AND NOT EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND NOT l.granted AND l.mode = 'ShareUpdateExclusiveLock' AND l.relation = to_regclass('jobstats.locks'))
$$;
COMMENT ON FUNCTION jobstats_internal.snapshots IS
'Internal: the other sessions of this database that read with a snapshot, with the oldest transaction that it may see as running.';

CREATE FUNCTION jobstats_internal.is_looked_at_since(instant xid8) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT EXISTS (
    SELECT FROM jobstats_internal.snapshots() s
    WHERE age(s.oldest) >= age(instant::xid)
        -- A later number than any of this cluster comes from a dump.
        AND instant < pg_snapshot_xmax(pg_current_snapshot())
        -- A session that waits for this one takes a new snapshot later.
        AND NOT pg_backend_pid() = ANY (pg_blocking_pids(s.pid)))
$$;
COMMENT ON FUNCTION jobstats_internal.is_looked_at_since IS
'Internal: whether a session of this database still has a snapshot from before a transaction.';

CREATE FUNCTION jobstats_internal.feeding() RETURNS TABLE (pid integer, role text, since timestamptz, idle_since timestamptz)
LANGUAGE c STABLE SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'jobstats_feeding_wrapper';
COMMENT ON FUNCTION jobstats_internal.feeding IS
'Internal: the sessions that hold locks of a feed, the oldest transaction first, if the caller may read health or feed; idle_since NULL: at work.';

CREATE FUNCTION jobstats_internal.end_idle_feeds() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    it record;
    ended bigint := 0;
BEGIN
    FOR it IN
        SELECT f.pid, f.role, f.idle_since FROM jobstats_internal.feeding() f WHERE f.idle_since < now() - interval '1 minute'
    LOOP
        BEGIN
            PERFORM pg_terminate_backend(it.pid);
            ended := ended + 1;
            RAISE WARNING 'ended session % of role %, which had been idle with the locks of a feed since %',
                it.pid, it.role, it.idle_since;
        EXCEPTION WHEN insufficient_privilege THEN
            -- The view jobstats.health names the session.
            CONTINUE;
        END;
    END LOOP;
    RETURN nullif(ended, 0);
END
$$;
COMMENT ON FUNCTION jobstats_internal.end_idle_feeds IS
'Internal: ends sessions that have held the locks of a feed for an idle minute, where the caller may, and returns their number; NULL if 0.';

CREATE FUNCTION jobstats_internal.require_top_level(routine text) RETURNS void
LANGUAGE c VOLATILE STRICT AS 'MODULE_PATHNAME', 'jobstats_require_top_level_wrapper';
COMMENT ON FUNCTION jobstats_internal.require_top_level IS 'Internal: fails with 25001 inside a transaction block, and with 25006 on a standby.';

CREATE FUNCTION jobstats_internal.begin_maintenance() RETURNS void
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'jobstats_begin_maintenance_wrapper';
COMMENT ON FUNCTION jobstats_internal.begin_maintenance IS 'Internal: waits until no other maintenance is running, as long as lock_timeout allows.';

CREATE FUNCTION jobstats_internal.end_maintenance() RETURNS void
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'jobstats_end_maintenance_wrapper';
COMMENT ON FUNCTION jobstats_internal.end_maintenance IS 'Internal: lets the next maintenance begin.';
