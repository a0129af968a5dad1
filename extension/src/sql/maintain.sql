-- Retention and, without TimescaleDB, the partitions of the coming days.

CREATE FUNCTION jobstats_add_days(relation text, ahead integer DEFAULT 3) RETURNS integer
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner name;
    today timestamp := date_trunc('day', now() AT TIME ZONE 'UTC');
    day timestamp;
    name text;
    low timestamptz;
    high timestamptz;
    held boolean;
    made integer := 0;
BEGIN
    SELECT pg_get_userbyid(c.relowner) INTO owner
    FROM pg_class c WHERE c.oid = to_regclass(format('jobstats.%I', relation)) AND c.relkind = 'p';
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    FOR day IN SELECT * FROM generate_series(today, today + make_interval(days => ahead), interval '1 day') LOOP
        name := format('%s_%s', relation, to_char(day, 'YYYYMMDD'));
        low := day AT TIME ZONE 'UTC';
        high := (day + interval '1 day') AT TIME ZONE 'UTC';
        CONTINUE WHEN to_regclass(format('jobstats.%I', name)) IS NOT NULL;
        -- Rows that came before their day had a partition keep that day in DEFAULT.
        EXECUTE format('SELECT EXISTS (SELECT FROM jobstats.%I WHERE "time" >= $1 AND "time" < $2)', relation || '_default')
            INTO held USING low, high;
        CONTINUE WHEN held;
        BEGIN
            EXECUTE format('CREATE TABLE jobstats.%I PARTITION OF jobstats.%I FOR VALUES FROM (%L) TO (%L)',
                name, relation, low, high);
        EXCEPTION WHEN check_violation THEN
            -- So do rows that a feed has committed since.
            CONTINUE;
        END;
        EXECUTE format('ALTER TABLE jobstats.%I OWNER TO %I', name, owner);
        made := made + 1;
    END LOOP;
    RETURN made;
END
$$;
COMMENT ON FUNCTION jobstats_add_days(text, integer) IS
'Internal: makes the missing partitions of a table of the store for today and the coming days (UTC) and returns their number; none where TimescaleDB keeps it.';

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
COMMENT ON FUNCTION jobstats_drop_before(text, timestamptz) IS
'Internal: drops the chunks or partitions of a table of the store that end before the horizon, and returns their number.';

-- No SET clause: a procedure with one cannot commit. Every transaction pins the search path for itself instead.
CREATE PROCEDURE jobstats_maintain()
LANGUAGE plpgsql
AS $$
DECLARE
    step record;
BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    PERFORM @extschema@.jobstats_require_store();
    PERFORM @extschema@.jobstats_require_top_level('jobstats_maintain()');
    -- A transaction for each step, and none that waits long: who waits for the lock on a table that a long query
    -- reads makes every feed wait behind itself.
    FOR step IN
        SELECT t.relation, h.horizon
        FROM jobstats.settings s
        CROSS JOIN LATERAL (VALUES
            ('raw', s.raw_retention), ('observations', s.retention), ('increments', s.retention)) AS t (relation, keep)
        CROSS JOIN LATERAL (VALUES (NULL), (now() - t.keep)) AS h (horizon)
    LOOP
        PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
        IF current_setting('lock_timeout') = '0' THEN
            PERFORM set_config('lock_timeout', '10s', true);
        END IF;
        BEGIN
            -- Maintenance and setup wait for each other. Zero is no target's.
            PERFORM pg_advisory_xact_lock(x'6a6f6273'::integer, 0);
            IF step.horizon IS NULL THEN
                PERFORM @extschema@.jobstats_add_days(step.relation);
            ELSE
                PERFORM @extschema@.jobstats_drop_before(step.relation, step.horizon);
            END IF;
        EXCEPTION WHEN lock_not_available THEN
            RAISE WARNING 'jobstats.% is in use and stays as it is until jobstats_maintain() is called again', step.relation;
        END;
        COMMIT;
    END LOOP;
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    DELETE FROM jobstats.rejects
    WHERE received < now() - (SELECT s.rejects_retention FROM jobstats.settings s);
    COMMIT;
END
$$;
COMMENT ON PROCEDURE jobstats_maintain() IS
'Makes the partitions of the coming days and drops what is older than the retentions in jobstats.settings. For cron or pg_cron, as the owner of the store, outside of a transaction. What is in use for long it leaves to the next call, with a warning. Errors: 55000 where there is no store, 25001 inside of a transaction.';
