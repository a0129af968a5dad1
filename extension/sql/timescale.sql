-- TimescaleDB can be in any schema, often in one in which other roles may create objects.

CREATE FUNCTION jobstats_internal.timescale_schema() RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    timescale pg_extension;
    beside regprocedure;
BEGIN
    SELECT * INTO timescale FROM pg_extension e WHERE e.extname = 'timescaledb';
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    -- PostgreSQL would prefer an overload that fits the arguments better.
    SELECT p.oid INTO beside
    FROM pg_proc p
    WHERE p.pronamespace = timescale.extnamespace
        AND p.proname IN ('add_job', 'compress_chunk', 'create_hypertable', 'decompress_chunk', 'drop_chunks', 'hypertable_size',
            'set_chunk_time_interval', 'time_bucket')
        AND NOT EXISTS (
            SELECT FROM pg_depend d
            WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
                AND d.refclassid = 'pg_extension'::regclass AND d.refobjid = timescale.oid)
    LIMIT 1;
    IF FOUND THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = format('function %s could be called in place of a function of TimescaleDB', beside),
            HINT = format('Drop it, and prevent others from creating functions there: REVOKE CREATE ON SCHEMA %s FROM PUBLIC;',
                timescale.extnamespace::regnamespace::text);
    END IF;
    RETURN quote_ident((SELECT n.nspname FROM pg_namespace n WHERE n.oid = timescale.extnamespace));
END
$$;
COMMENT ON FUNCTION jobstats_internal.timescale_schema IS
'Internal: the schema of TimescaleDB, quoted; NULL: it is not installed. Error: 55000 where another function there could be called instead of one of TimescaleDB.';

CREATE FUNCTION jobstats_internal.hypertables() RETURNS TABLE (relation text, hypertable regclass, packed_by text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension e WHERE e.extname = 'timescaledb') THEN
        RETURN;
    END IF;
    -- The Apache edition has neither a columnstore nor its view.
    RETURN QUERY EXECUTE format($sql$
        SELECT h.hypertable_name::text, t.oid::regclass, %s
        FROM timescaledb_information.hypertables h
        CROSS JOIN LATERAL (SELECT format('%%I.%%I', h.hypertable_schema, h.hypertable_name)::regclass) AS t (oid)
        WHERE h.hypertable_schema = 'jobstats'
    $sql$, CASE WHEN current_setting('timescaledb.license', true) = 'timescale'
        THEN 'CASE WHEN h.compression_enabled THEN (SELECT c.orderby FROM timescaledb_information.hypertable_compression_settings c WHERE c.hypertable = t.oid) END'
        ELSE 'NULL::text' END);
END
$$;
COMMENT ON FUNCTION jobstats_internal.hypertables IS
'Internal: the hypertables of the store, and the order in which their old chunks are compressed; NULL: they stay in rows.';

-- Maintenance as a job of TimescaleDB, and jobs that conflict with it.
CREATE PROCEDURE jobstats_internal.maintain_job(job_id integer, config jsonb)
LANGUAGE plpgsql
AS $$
BEGIN
    CALL @extschema@.jobstats_maintain();
END
$$;
COMMENT ON PROCEDURE jobstats_internal.maintain_job IS
'Internal: calls jobstats_maintain() as a job of TimescaleDB: SELECT add_job(''jobstats_internal.maintain_job'', ''10 minutes'');';

CREATE FUNCTION jobstats_internal.failing_jobs() RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    version text := (SELECT e.extversion FROM pg_extension e WHERE e.extname = 'timescaledb');
    seen boolean;
BEGIN
    IF version IS NULL OR to_regclass('timescaledb_information.job_errors') IS NULL THEN
        RETURN NULL;
    END IF;
    -- A job that succeeded since then shows that another version of either has mended it.
    EXECUTE $sql$
        SELECT coalesce(max(e.finish_time) > (SELECT coalesce(max(s.last_successful_finish), '-infinity') FROM timescaledb_information.job_stats s), false)
        FROM timescaledb_information.job_errors e
        WHERE e.sqlerrcode = '24000' AND e.err_message LIKE 'cannot drop portal %'
    $sql$ INTO seen;
    -- Before the first job has run, and for a role that sees no job, these versions are known to fail.
    IF seen OR current_setting('server_version_num') = '150020' AND version = '2.28.3' THEN
        RETURN format('TimescaleDB %s records every job as failed on PostgreSQL %s, although it succeeds',
            version, substring(current_setting('server_version') FROM '^[0-9.]+'));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION jobstats_internal.failing_jobs IS
'Internal: reports that TimescaleDB records successful jobs as failed, by the errors of its jobs or by the versions; NULL: no sign of that.';

CREATE FUNCTION jobstats_internal.job_problems() RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    failing text := jobstats_internal.failing_jobs();
    problems text;
BEGIN
    IF to_regclass('timescaledb_information.job_errors') IS NULL THEN
        RETURN NULL;
    END IF;
    EXECUTE $sql$
        SELECT string_agg(p.problem, '; ' ORDER BY p.number, p.job_id)
        FROM (
            -- Policies that drop rows before they are summed.
            SELECT 1 AS number, j.job_id, format('job %s of TimescaleDB drops chunks of %s even before they are summed: SELECT remove_retention_policy(''jobstats.%2$s'')',
                j.job_id, j.hypertable_name) AS problem
            FROM timescaledb_information.jobs j
            WHERE j.hypertable_schema = 'jobstats' AND j.hypertable_name <> 'realtime_10m' AND j.proc_name = 'policy_retention'
            UNION ALL
            SELECT 2, min(j.job_id), format('%s: call jobstats_maintain() from cron or pg_cron instead, then SELECT delete_job(%s)', $1, min(j.job_id))
            FROM timescaledb_information.jobs j
            WHERE j.proc_schema = 'jobstats_internal' AND j.proc_name = 'maintain_job' AND j.scheduled AND $1 IS NOT NULL
            HAVING count(*) > 0
            UNION ALL
            SELECT 3, j.job_id, format('job %s of TimescaleDB, %s of jobstats.realtime_10m, failed: %s', j.job_id, j.proc_name, e.err_message)
            FROM timescaledb_information.jobs j
            JOIN timescaledb_information.job_stats s ON s.job_id = j.job_id AND s.last_run_status = 'Failed'
            CROSS JOIN LATERAL (
                SELECT e.err_message FROM timescaledb_information.job_errors e WHERE e.job_id = j.job_id ORDER BY e.finish_time DESC LIMIT 1) e
            -- Where every job is recorded as failed, only other errors count.
            WHERE j.hypertable_schema = 'jobstats' AND j.hypertable_name = 'realtime_10m' AND e.err_message NOT LIKE 'cannot drop portal %'
        ) p
    $sql$ INTO problems USING failing;
    RETURN problems;
END
$$;
COMMENT ON FUNCTION jobstats_internal.job_problems IS
'Internal: the problems of jobs of TimescaleDB on the store, with their remedies; NULL: no problem. Conflicting retention policies, a maintenance job that is recorded as failed, and failed policies of realtime_10m.';
