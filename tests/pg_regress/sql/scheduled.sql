-- Maintenance by TimescaleDB's jobs, where it has some (Community edition), and policies that it must not meet.
\set ECHO all
CREATE EXTENSION jobstats;
SELECT jobstats_setup() IS NOT NULL AS ready \gset
SELECT coalesce(current_setting('timescaledb.license', true), '') = 'timescale' AS community \gset
-- Some versions record every job as failed, as the errors of jobs show.
\if :community
    INSERT INTO _timescaledb_internal.bgw_job_stat_history (job_id, pid, execution_start, execution_finish, succeeded, data)
    VALUES (3, 1, now(), now() + interval '1 minute', false, jsonb_build_object('job', '{}'::jsonb, 'error_data',
        '{"sqlerrcode": "24000", "message": "cannot drop portal \"\" while it is being set up"}'::jsonb));
    SELECT jobstats_internal.failing_jobs() ~ '^TimescaleDB [0-9.]+ records every job as failed on PostgreSQL [0-9.]+, although it succeeds$' AS found \gset
    DELETE FROM _timescaledb_internal.bgw_job_stat_history WHERE pid = 1;
\else
    SELECT jobstats_internal.failing_jobs() IS NULL AS found \gset
\endif
SELECT :'found' AS found;
-- The message is shown below.
CREATE OR REPLACE FUNCTION jobstats_internal.failing_jobs() RETURNS text LANGUAGE sql STABLE AS 'SELECT NULL::text';
CREATE VIEW last AS
SELECT took >= '0' AS took, affected, problem FROM jobstats.maintenance WHERE step = 'all' ORDER BY began DESC LIMIT 1;

-- As jobstats_setup() prints it; elsewhere, the job's own call.
\if :community
    SELECT substring(jobstats_setup() FROM 'SELECT .*add_job.*\)') AS statement \gset
    :statement \gset
    CALL run_job(:add_job);
\else
    CALL jobstats_internal.maintain_job(1000, NULL);
\endif
TABLE last;
SELECT (jobstats_setup() ~ 'Maintenance is scheduled: job \d+ of TimescaleDB') = :'community' AS seen;

-- A policy that drops without its care: maintenance names it with the statement that removes it.
\if :community
    SELECT add_retention_policy('jobstats.increments', interval '1 day') AS job \gset
    CALL jobstats_maintain();
    SELECT problem ~ 'remove_retention_policy\(''jobstats.increments''\)' AS named,
        (SELECT remedy FROM jobstats.health WHERE states = '{maintenance}') = format('The last maintenance had a problem: %s.', problem) AS shown
    FROM last \gset
    SELECT remove_retention_policy('jobstats.increments') AS removed \gset
    CALL jobstats_maintain();
\else
    SELECT true AS named, true AS shown \gset
\endif
SELECT :'named' AS named, :'shown' AS shown;
TABLE last;
SELECT count(*) FROM jobstats.health WHERE states = '{maintenance}';

-- Where failures of jobs are recorded, maintenance warns of its own, and setup recommends others.
\if :community
    CREATE OR REPLACE FUNCTION jobstats_internal.failing_jobs() RETURNS text LANGUAGE sql STABLE AS $$SELECT text 'Jobs fail'$$;
    CALL jobstats_maintain();
    SELECT replace(problem, :'add_job', 'N') AS problem,
        (SELECT remedy FROM jobstats.health WHERE states = '{maintenance}') = format('The last maintenance had a problem: %s.', problem) AS shown
    FROM last \gset
    SELECT regexp_replace(jobstats_setup(), '.*(Maintenance is .*)', '\1') = format('Maintenance is scheduled: job %s of TimescaleDB. '
        'Jobs fail: call it from cron or pg_cron, then SELECT delete_job(%1$s);', :'add_job') AS scheduled \gset
    SELECT delete_job(:add_job) AS deleted \gset
    CALL jobstats_maintain();
    SELECT jobstats_setup() ~ E'Jobs fail, so its jobs are not recommended.\n.*cron' AS advised \gset
\else
    SELECT 'Jobs fail: call jobstats_maintain() from cron or pg_cron instead, then SELECT delete_job(N)' AS problem, true AS shown,
        true AS scheduled, true AS advised \gset
\endif
SELECT :'problem' AS problem, :'shown' AS shown, :'scheduled' AS scheduled, :'advised' AS advised;
TABLE last;
