-- The continuous aggregate behind jobstats.rates_realtime, in the Community edition of TimescaleDB, which refreshes it itself.

CREATE FUNCTION jobstats_internal.put_realtime_policies() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET client_min_messages = warning
AS $$
DECLARE
    timescale text := jobstats_internal.timescale_schema();
    policy record;
BEGIN
    -- TimescaleDB runs jobs as the owner, who has to have LOGIN.
    IF NOT (SELECT r.rolcanlogin FROM pg_roles r WHERE r.rolname = current_user) THEN
        RETURN;
    END IF;
    FOR policy IN
        SELECT p.*
        FROM jobstats.settings s
        CROSS JOIN LATERAL (VALUES
            -- To refresh buckets whose increments are dropped would empty them: the window ends a day before.
            ('policy_refresh_continuous_aggregate', 'start_offset', greatest(s.retention - interval '1 day', interval '1 hour'),
                'SELECT %s.remove_continuous_aggregate_policy(%L, if_exists => true)',
                'SELECT %s.add_continuous_aggregate_policy(%L, %L::interval, interval ''10 minutes'', interval ''10 minutes'')'),
            ('policy_compression', 'compress_after', s.compress_after,
                'CALL %s.remove_columnstore_policy(%L, if_exists => true)', 'CALL %s.add_columnstore_policy(%L, %L::interval)'),
            ('policy_retention', 'drop_after', s.retention,
                'SELECT %s.remove_retention_policy(%L, if_exists => true)', 'SELECT %s.add_retention_policy(%L, %L::interval)')
        ) AS p (name, key, value, remove, add)
    LOOP
        IF NOT EXISTS (
            SELECT FROM timescaledb_information.jobs j
            WHERE j.hypertable_schema = 'jobstats' AND j.hypertable_name = 'realtime_10m' AND j.proc_name = policy.name
                AND (j.config ->> policy.key)::interval = policy.value)
        THEN
            EXECUTE format(policy.remove, timescale, 'jobstats.realtime_10m');
            EXECUTE format(policy.add, timescale, 'jobstats.realtime_10m', policy.value);
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_internal.put_realtime_policies IS
'Internal: gives jobstats.realtime_10m the policies of TimescaleDB that refresh it, keep it in columns and drop it with increments.';

CREATE FUNCTION jobstats_internal.reset_realtime() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_class c WHERE c.oid = to_regclass('jobstats.realtime_10m') AND c.relkind = 'v') THEN
        TRUNCATE jobstats.realtime_10m;
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.reset_realtime IS
'Internal: empties jobstats.realtime_10m after users of entries or numbers of targets have changed; until the next refresh, the view computes all of it.';
