-- What setup replaces may be read by a query that began long ago. A setup that waited for it would make all feeds and readers wait behind
-- itself. So setup waits for less than a second, gives up all that it has locked and done, and begins again.
CREATE FUNCTION jobstats_setup(
    raw_retention interval DEFAULT NULL,
    retention interval DEFAULT NULL,
    rejects_retention interval DEFAULT NULL,
    rollup_10m_retention interval DEFAULT NULL,
    rollup_1h_retention interval DEFAULT NULL,
    rollup_1d_retention interval DEFAULT NULL,
    chunk_interval interval DEFAULT NULL,
    compress_after interval DEFAULT NULL,
    refresh_lag interval DEFAULT NULL,
    metrics text[] DEFAULT NULL,
    node integer DEFAULT NULL
) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    limit_of_caller interval := current_setting('lock_timeout')::interval;
    began timestamptz := clock_timestamp();
    told timestamptz := began;
    message text;
BEGIN
    LOOP
        BEGIN
            PERFORM jobstats_internal.prepare_number(node);
            message := jobstats_internal.set_up(raw_retention, retention, rejects_retention, rollup_10m_retention, rollup_1h_retention,
                rollup_1d_retention, chunk_interval, compress_after, refresh_lag, metrics);
            PERFORM jobstats_internal.number_store(node);
            RETURN message;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            IF limit_of_caller > interval '0' AND clock_timestamp() > began + limit_of_caller THEN
                RAISE;
            ELSIF clock_timestamp() > told + interval '30 seconds' THEN
                told := clock_timestamp();
                RAISE NOTICE USING
                    MESSAGE = format('waiting for sessions that use the store: %s', jobstats_internal.sessions_on_store()),
                    HINT = 'SELECT pg_terminate_backend(…) ends one.';
            END IF;
        END;
        -- Feeds get more time than they had to wait.
        PERFORM pg_sleep(1);
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_setup IS
'Creates the store, or brings it up to date. The store is in the schema jobstats; setup may be run again at any time. A setting that is NULL stays as it is (at first: raw text 2 days, increments 90 days, rejects 14 days; rollups of ten minutes 90 days, of hours 2 years, of days for ever, which is jobstats_forever(), each at least as long as what it sums; with TimescaleDB chunks of 1 day, in the Community edition kept in columns after 7 days; rollups stay 20 minutes behind; no metrics of the source openmetrics, which are chosen by patterns of their names, with *; number 0 among the nodes of a front, of up to 32766: another one changes all rows of a store that has some). Returns what was chosen and how to schedule maintenance. Errors: 0A000 where the database is not UTF8, 25006 on a standby, 55000 where a foreign schema jobstats is in the way, for a front, and for another number during a conversion, 22023 for a setting that is out of range, 23514 for settings that contradict each other, 55P03 where a lock takes longer than lock_timeout, if that is set.';

CREATE FUNCTION jobstats_internal.sessions_on_store() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT string_agg(DISTINCT l.pid::text, ', ')
FROM pg_locks l
JOIN pg_class c ON c.oid = l.relation AND c.relnamespace = to_regnamespace('jobstats')
WHERE l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()) AND l.pid <> pg_backend_pid()
$$;
COMMENT ON FUNCTION jobstats_internal.sessions_on_store() IS
'Internal: the sessions that hold or want locks on relations of the store; NULL: none.';
