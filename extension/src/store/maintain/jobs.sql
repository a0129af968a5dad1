-- Maintenance by the jobs of TimescaleDB, and jobs of others that would do parts of it.

CREATE PROCEDURE jobstats_maintain_job(job_id integer, config jsonb)
LANGUAGE plpgsql
AS $$
BEGIN
    CALL @extschema@.jobstats_maintain();
END
$$;
COMMENT ON PROCEDURE jobstats_maintain_job(integer, jsonb) IS
'Runs jobstats_maintain() as a job of TimescaleDB. In its Community edition: SELECT add_job(''jobstats_maintain_job'', ''10 minutes''); Errors: as of jobstats_maintain(), 55000, 25001 and 42501.';

CREATE FUNCTION jobstats_internal.foreign_policies() RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found text;
BEGIN
    IF to_regclass('timescaledb_information.jobs') IS NULL OR to_regclass('timescaledb_information.continuous_aggregates') IS NULL THEN
        RETURN NULL;
    END IF;
    EXECUTE $sql$
        SELECT string_agg(format(CASE j.proc_name
                WHEN 'policy_retention' THEN 'job %s of TimescaleDB drops chunks of %s whether they have been summed or not: SELECT remove_retention_policy(''jobstats.%2$s'')'
                ELSE 'job %s of TimescaleDB refreshes %s, which jobstats_maintain() does: SELECT remove_continuous_aggregate_policy(''jobstats.%2$s'')'
            END, j.job_id, t.relation), '; ' ORDER BY j.job_id)
        FROM timescaledb_information.jobs j
        JOIN (
            SELECT h.hypertable_schema, h.hypertable_name, h.hypertable_name AS relation
            FROM timescaledb_information.hypertables h WHERE h.hypertable_schema = 'jobstats'
            UNION ALL
            SELECT a.materialization_hypertable_schema, a.materialization_hypertable_name, a.view_name
            FROM timescaledb_information.continuous_aggregates a WHERE a.view_schema = 'jobstats'
            UNION ALL
            SELECT a.view_schema, a.view_name, a.view_name
            FROM timescaledb_information.continuous_aggregates a WHERE a.view_schema = 'jobstats'
        ) t ON t.hypertable_schema = j.hypertable_schema AND t.hypertable_name = j.hypertable_name
        WHERE j.proc_name IN ('policy_retention', 'policy_refresh_continuous_aggregate')
    $sql$ INTO found;
    RETURN found;
END
$$;
COMMENT ON FUNCTION jobstats_internal.foreign_policies() IS
'Internal: policies of TimescaleDB on tables of the store that do what jobstats_maintain() does, without its care, and how to remove them; NULL: there is none.';

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
        RETURN format('TimescaleDB %s records every job as failed on PostgreSQL %s, although its work is done',
            version, substring(current_setting('server_version') FROM '^[0-9.]+'));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION jobstats_internal.failing_jobs() IS
'Internal: says that TimescaleDB records jobs as failed that have done their work, by the errors of its jobs or by the versions; NULL: it does not, as far as is known.';

CREATE FUNCTION jobstats_internal.failing_job() RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    problem text := jobstats_internal.failing_jobs();
    job integer;
BEGIN
    IF problem IS NULL THEN
        RETURN NULL;
    END IF;
    EXECUTE $sql$
        SELECT min(j.job_id) FROM timescaledb_information.jobs j WHERE j.proc_name = 'jobstats_maintain_job' AND j.scheduled
    $sql$ INTO job;
    RETURN CASE WHEN job IS NOT NULL THEN
        format('%s: let cron or pg_cron call jobstats_maintain() instead, then SELECT delete_job(%s)', problem, job) END;
END
$$;
COMMENT ON FUNCTION jobstats_internal.failing_job() IS
'Internal: the problem of a job of TimescaleDB that maintains the store where such jobs are recorded as failed, and what to use instead; NULL: there is none.';
