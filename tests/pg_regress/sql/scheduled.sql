-- Maintenance by TimescaleDB's jobs, where it has some (Community edition), and policies that it must not meet.
\set SHOW_CONTEXT never
CREATE EXTENSION jobstats;
SELECT jobstats_setup() IS NOT NULL AS ready;
SELECT coalesce(current_setting('timescaledb.license', true), '') = 'timescale' AS community \gset
CREATE VIEW last AS
SELECT took >= '0' AS took, affected, problem FROM jobstats.maintenance WHERE step = 'all' ORDER BY began DESC LIMIT 1;

-- As jobstats_setup() says; elsewhere, what the job would call.
\if :community
    SELECT substring(jobstats_setup() FROM 'SELECT .*add_job.*\)') AS statement \gset
    :statement \gset
    CALL run_job(:add_job);
\else
    CALL jobstats_maintain_job(1000, NULL);
\endif
TABLE last;
SELECT (jobstats_setup() ~ 'Maintenance is scheduled: job \d+ of TimescaleDB') = :'community' AS seen;

-- Policies that do parts of it without its care: maintenance names them with the statements that remove them.
\if :community
    SELECT add_retention_policy('jobstats.increments', interval '1 day') AS job \gset
    SELECT add_continuous_aggregate_policy('jobstats.rollup_10m', NULL, '1 hour', '1 hour') AS job \gset
    CALL jobstats_maintain();
    SELECT problem ~ 'remove_retention_policy\(''jobstats.increments''\).*remove_continuous_aggregate_policy\(''jobstats.rollup_10m''\)' AS named,
        (SELECT remedy FROM jobstats.health WHERE status = 'maintenance') = format('The last maintenance had a problem: %s.', problem) AS shown
    FROM last \gset
    SELECT remove_retention_policy('jobstats.increments') AS removed, remove_continuous_aggregate_policy('jobstats.rollup_10m') AS removed \gset
    CALL jobstats_maintain();
\else
    SELECT true AS named, true AS shown \gset
\endif
SELECT :'named' AS named, :'shown' AS shown;
TABLE last;
SELECT count(*) FROM jobstats.health WHERE status = 'maintenance';
