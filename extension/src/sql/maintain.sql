-- Retention and, without TimescaleDB, the partitions of the coming days.

CREATE FUNCTION jobstats_add_days(ahead integer DEFAULT 3) RETURNS integer
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    parent text;
    day timestamp;
    name text;
    low timestamptz;
    high timestamptz;
    held boolean;
    made integer := 0;
BEGIN
    FOR parent IN
        SELECT c.relname FROM pg_class c
        WHERE c.relnamespace = 'jobstats'::regnamespace AND c.relkind = 'p' ORDER BY c.relname
    LOOP
        FOR day IN
            SELECT * FROM generate_series(
                date_trunc('day', now() AT TIME ZONE 'UTC'),
                date_trunc('day', now() AT TIME ZONE 'UTC') + make_interval(days => ahead),
                interval '1 day')
        LOOP
            name := format('%s_%s', parent, to_char(day, 'YYYYMMDD'));
            low := day AT TIME ZONE 'UTC';
            high := (day + interval '1 day') AT TIME ZONE 'UTC';
            CONTINUE WHEN to_regclass(format('jobstats.%I', name)) IS NOT NULL;
            -- Rows that came before their day had a partition keep that day in DEFAULT.
            EXECUTE format('SELECT EXISTS (SELECT FROM jobstats.%I WHERE "time" >= $1 AND "time" < $2)', parent || '_default')
                INTO held USING low, high;
            CONTINUE WHEN held;
            EXECUTE format('CREATE TABLE jobstats.%I PARTITION OF jobstats.%I FOR VALUES FROM (%L) TO (%L)',
                name, parent, low, high);
            made := made + 1;
        END LOOP;
    END LOOP;
    RETURN made;
END
$$;
REVOKE ALL ON FUNCTION jobstats_add_days(integer) FROM PUBLIC;
COMMENT ON FUNCTION jobstats_add_days(integer) IS
'Internal: makes the missing partitions of today and the coming days (UTC) and returns their number; none where TimescaleDB keeps the tables.';

CREATE FUNCTION jobstats_drop_before(relation text, horizon timestamptz) RETURNS integer
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    timescale text := (
        SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
        WHERE e.extname = 'timescaledb');
    name text;
    dropped integer := 0;
BEGIN
    IF (SELECT c.relkind FROM pg_class c WHERE c.oid = to_regclass(format('jobstats.%I', relation))) <> 'p' THEN
        EXECUTE format('SELECT count(*) FROM %I.drop_chunks($1::regclass, older_than => $2)', timescale)
            INTO dropped USING format('jobstats.%I', relation), horizon;
        RETURN dropped;
    END IF;
    FOR name IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = to_regclass(format('jobstats.%I', relation))
            AND c.relname ~ format('^%s_\d{8}$', relation)
            AND (to_date(right(c.relname, 8), 'YYYYMMDD') + 1)::timestamp AT TIME ZONE 'UTC' <= horizon
        ORDER BY c.relname
    LOOP
        EXECUTE format('DROP TABLE jobstats.%I', name);
        dropped := dropped + 1;
    END LOOP;
    EXECUTE format('DELETE FROM jobstats.%I WHERE "time" < $1', relation || '_default') USING horizon;
    RETURN dropped;
END
$$;
REVOKE ALL ON FUNCTION jobstats_drop_before(text, timestamptz) FROM PUBLIC;
COMMENT ON FUNCTION jobstats_drop_before(text, timestamptz) IS
'Internal: drops the chunks or partitions of a table of the store that end before the horizon, and returns their number.';

-- No SET clause: a procedure with one cannot commit. Every transaction pins the search path for itself instead.
CREATE PROCEDURE jobstats_maintain()
LANGUAGE plpgsql
AS $$
DECLARE
    settings record;
    growing record;
BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    IF to_regclass('jobstats.settings') IS NULL THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = 'the store of jobstats is missing in this database',
            HINT = 'Run SELECT jobstats_setup();';
    END IF;
    SELECT * INTO STRICT settings FROM jobstats.settings;
    PERFORM @extschema@.jobstats_add_days();
    COMMIT;
    FOR growing IN
        SELECT * FROM (VALUES
            ('raw', settings.raw_retention),
            ('observations', settings.retention),
            ('increments', settings.retention)) AS tables (relation, keep)
    LOOP
        -- One transaction each: a lock that is hard to get on one table does not hold up the others.
        PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
        PERFORM @extschema@.jobstats_drop_before(growing.relation, now() - growing.keep);
        COMMIT;
    END LOOP;
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    DELETE FROM jobstats.rejects WHERE "time" < now() - settings.rejects_retention;
    COMMIT;
END
$$;
COMMENT ON PROCEDURE jobstats_maintain() IS
'Makes the partitions of the coming days and drops what is older than the retentions in jobstats.settings. For cron or pg_cron, as the owner of the store, outside of a transaction. Error: 55000 where there is no store.';
