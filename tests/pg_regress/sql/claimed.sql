-- The work of a user who names the job of another one, as by export SLURM_JOB_ID=4711, counts for no job, in any answer.
\i store.sql
\i accounting.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
DO $$ BEGIN PERFORM jobstats_setup(retention => '100 years', raw_retention => '100 years', compress_after => '100 years'); END $$;
UPDATE texts.clock SET zero = '2025-11-03 08:00+00';
UPDATE jobstats.entry_formats SET format = '%u:%j:%H' WHERE format = '%j:%u:%H';

-- 2000 works for the own job 4712, and names 4711 and 4713 of 1000: once in an identifier that is cut. root works for 4711, too.
CREATE FUNCTION feed(minute numeric, calls numeric) RETURNS bigint LANGUAGE sql AS $$
WITH fed AS (
    INSERT INTO jobstats.feed (server, "time", body)
    SELECT 'mds1', at(minute), mdt('fs-MDT0000', (SELECT string_agg(life(id, at(1), calls, calls * usecs), '' ORDER BY id) FROM (VALUES
        ('1000:4711:n1', 100000), ('0:4711:n1', 1000), ('2000:4711:n5', 1010), ('1000:4713:n2', 100000),
        (rpad('2000:4713:n5', 31, 'a'), 900), ('2000:4712:n5', 500)) AS e (id, usecs) WHERE calls > 0))
    RETURNING 1)
SELECT count(*) FROM fed
$$;
SELECT feed(0, 0) + feed(10, 10) + feed(20, 20) AS texts;
SELECT account(60, run('4711', '4711', 'alpha', 0, 50, 1000, 'physics', 'n[1-9]') || run('4712', '4712', 'alpha', 0, 50, 2000, 'bio', 'n[1-9]')
    || run('4713', '4713', 'alpha', 0, 50, 1000, 'physics', 'n[1-9]'));
CALL jobstats_maintain();
CREATE VIEW entries AS SELECT name, job, claimed, status, workload FROM jobstats.entries ORDER BY name COLLATE "C";
TABLE entries;
CREATE VIEW by_job AS SELECT name, total FROM jobstats_totals(at(0), at(20), 'open', 'job,uid,status,account') ORDER BY name COLLATE "C";
TABLE by_job;
SELECT rank, name, total FROM jobstats_top(at(0), at(20), 'open', 'job');
SELECT name, service_time FROM jobstats_summary(at(0), at(20)) ORDER BY name;
SELECT job, operation, sum(total) AS opens FROM jobstats_compare('{4711,4712}', '10 minutes', 'open') GROUP BY 1, 2 ORDER BY 1;
SELECT job, metadata, service_time, active_nodes FROM jobstats.job_summaries ORDER BY job;
SELECT * FROM jobstats_job_usage('4712') WHERE operation LIKE 'attributed%';
SELECT status, entries, calls, remedy FROM jobstats.job_quality WHERE status = 'claimed';

-- From 1 % of its own time on, a NOTICE shows the usage of others under the number of the job.
\set VERBOSITY default
CREATE VIEW of_job AS
SELECT operation, name, total, nodes FROM jobstats_job_usage('4711', 'node') WHERE operation ~ 'open|service_time' ORDER BY 1, 2;
TABLE of_job;
SELECT user_name, metadata, service_time, claimed FROM jobstats_job('4711');
SELECT operation, total, nodes FROM jobstats_job_usage(4713, '') WHERE operation ~ 'open|service_time';
\set VERBOSITY terse
SELECT operation, total FROM jobstats_job_usage(4711, '', since => at(0), until => at(10)) WHERE operation ~ 'open';
-- Readers of their own jobs see their own rows.
CREATE ROLE regress_ada;
CREATE ROLE regress_eve;
SELECT jobstats_grant_own('regress_ada', 1000), jobstats_grant_own('regress_eve', 2000) \gset
GRANT USAGE ON SCHEMA texts TO regress_ada, regress_eve;
GRANT SELECT ON texts.clock TO regress_ada, regress_eve;
SET ROLE regress_ada;
SELECT operation, total FROM jobstats_job_usage('4711', '') WHERE operation ~ 'open';
SET ROLE regress_eve;
SELECT operation, total FROM jobstats_job_usage('4711', '') WHERE operation ~ 'open';
SELECT name, total FROM jobstats_totals(at(0), at(20), 'open', 'job,status') ORDER BY 1;
RESET ROLE;
DROP OWNED BY regress_ada, regress_eve;
DROP ROLE regress_ada, regress_eve;

-- A forgotten user claims no job, and a forgotten job is not found by who claimed it.
SELECT relation, columns FROM jobstats_personal_data(2000) WHERE relation = 'entries';
BEGIN;
SELECT trace, "rows" FROM jobstats_forget_user(2000) WHERE "rows" > 0;
SELECT job LIKE 'pseudonym:%' AS hidden, claimed, status, count(*) FROM jobstats.entries WHERE uid > 2000 GROUP BY 1, 2, 3 ORDER BY 1;
ROLLBACK;
BEGIN;
SELECT trace, "rows" FROM jobstats_forget_user(1000) WHERE "rows" > 0;
SELECT job_no IS NOT NULL AS found, job LIKE 'pseudonym:%' AS hidden FROM jobstats.job_ids WHERE account = 'physics';
SELECT count(*) FROM jobstats.entries WHERE job IN ('4711', '4713');
ROLLBACK;
-- A node of another scheduler has no such jobs.
INSERT INTO jobstats.nodes (pattern, scheduler) VALUES ('n5', 'beta');
SELECT jobstats_reidentify();
CALL jobstats_maintain();
TABLE entries;
DELETE FROM jobstats.nodes;
SELECT jobstats_reidentify();
CALL jobstats_maintain();
SELECT * FROM entries WHERE status = 'claimed';
-- Accounting that comes later has a job of this user. How the identifier is read, maintenance then finds again.
SELECT account(70, run('4713', '4713', 'beta', 0, 50, 2000, 'bio', 'n[1-9]'));
CALL jobstats_maintain();
CALL jobstats_maintain();
SELECT * FROM entries WHERE name LIKE '%:4713:%';
SELECT count(*) FROM jobstats.to_identify;
-- Claimed usage remains after retention has dropped the jobs.
UPDATE jobstats.settings SET jobs_retention = '1 minute';
CALL jobstats_maintain();
CALL jobstats_maintain();
SELECT (SELECT count(*) FROM jobstats.jobs) AS jobs, (SELECT count(*) FROM jobstats.job_ids) AS job_ids, (SELECT count(*) FROM jobstats.entry_jobs) AS entry_jobs;
TABLE by_job;
