-- Ada may see her own jobs only, and tries to see Eve's, whose names are all "secret". docs/privacy.md lists the attempts and the remaining
-- risks.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE ROLE regress_ada;
CREATE ROLE regress_eve;
CREATE ROLE regress_web;
CREATE ROLE regress_all;
RESET client_min_messages;
DO $$ BEGIN
    PERFORM jobstats_setup(retention => '100 years', raw_retention => '100 years', compress_after => '100 years');
    PERFORM observe('scratch-OST0000', 'server', 0, 10, 20);
    PERFORM act('scratch-OST0000', '11:1000:n01', 0, 10, '{"write": 10, "write_bytes": 40960, "write_usecs": 70}');
    PERFORM act('scratch-OST0000', '777:4242:secretnode', 0, 10, '{"write": 1000, "write_bytes": 4096000, "write_usecs": 7000}');
    PERFORM act('scratch-OST0000', 'secretprog.4242', 0, 10, '{"write": 1000, "write_bytes": 4096000, "write_usecs": 7000}');
    PERFORM act('scratch-OST0000', '77', 0, 10, '{"write": 1000, "write_bytes": 4096000, "write_usecs": 7000}');
END $$;
-- 22 is a bare number: Ada's job on this day, and another user's the day before, which accounting does not know. 780 is another user's job,
-- which an entry of Ada's matched.
DO $$ BEGIN
    PERFORM observe('scratch-OST0000', 'server', -1500, -1450, -1440);
    PERFORM act('scratch-OST0000', '22', -1450, -1440, '{"write": 500, "write_bytes": 500}');
    PERFORM act('scratch-OST0000', '22', 0, 10, '{"write": 3, "write_bytes": 500}');
    PERFORM act('scratch-OST0000', '780:1000:n01', 0, 10, '{"write": 5, "write_bytes": 500}');
END $$;
INSERT INTO jobstats.job_ids (job_no, scheduler, job, label, runs, started, last_started, ended, uid, account, job_name, state) OVERRIDING SYSTEM VALUE
VALUES (22, 'slurm', '22', '22', 1, at(0), at(0), at(20), 1000, 'physics', 'mine', 'COMPLETED'), (780, 'slurm', '780', '780', 1, at(0), at(0), at(20), NULL, 'secretaccount', 'secretjob', 'COMPLETED'),
    (777, 'slurm', '777', '770_1', 1, at(0), at(0), at(20), 4242, 'secretaccount', 'secretjob', 'COMPLETED');
INSERT INTO jobstats.entry_jobs (entry_id, job_no, valid_from, valid_to, status, alone)
SELECT e.entry_id, e.job::bigint, '2025-11-03', 'infinity', 'known', true FROM jobstats.entries e WHERE e.job IN ('22', '780');
INSERT INTO jobstats.jobs (scheduler, job, label, submitted, started, ended, uid, account, state, nodes, source, updated)
VALUES ('slurm', '22', '22', at(0), at(0), at(20), 1000, 'physics', 'COMPLETED', 1, 'slurm', at(30));
INSERT INTO jobstats.users (uid, user_name) VALUES (1000, 'ada'), (4242, 'secreteve');
INSERT INTO jobstats.jobs (scheduler, job, label, parent, submitted, started, ended, uid, user_name, account, job_name, state, nodes, source, updated)
SELECT 'slurm', r.job, r.label, r.parent, at(0), at(0), at(20), 4242, 'secreteve', 'secretaccount', 'secretjob', 'COMPLETED', 1, 'slurm', at(30)
FROM (VALUES ('777', '770_1', '770'), ('778', '770_2', '770')) AS r (job, label, parent);
INSERT INTO jobstats.rejects ("time", received, cluster, server, target, line, reason, text) VALUES (at(5), at(5), '', 'server', 'scratch-OST0000', 1, 'other', 'secret line');
INSERT INTO jobstats.job_summaries (job_no, scheduler, job, runs, started, ended, run_time, uid, account, active_nodes, targets, read_bytes, write_bytes, read, write, opens, metadata, operations, made)
VALUES (777, 'slurm', '777', 1, at(0), at(20), '1 hour', 4242, 'secretaccount', 1, 1, 0, 0, 0, 0, 0, 0, '{}', at(30));
SELECT jobstats_grant_own('regress_ada', 1000), jobstats_grant_own('regress_eve', 4242), jobstats_grant_proxy('regress_web'), jobstats_grant_reader('regress_all') \gset
GRANT USAGE, CREATE ON SCHEMA world TO PUBLIC;

-- The result of an attempt: its number of rows or its error, and whether it reveals a secret.
CREATE FUNCTION world.attempt(number integer, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    told text;
    message text;
    hint text;
BEGIN
    EXECUTE format('SELECT count(*) || '' rows'', string_agg(to_jsonb(a)::text, '' '') FROM (%s) a', statement) INTO message, told;
    RETURN concat_ws(' ', number, message, CASE WHEN told ~ 'secret|4242|77' THEN 'TELLS ' || told END);
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, told = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' ', number, SQLSTATE, CASE WHEN concat(message, told, hint) ~ 'secret|4242|77' THEN 'TELLS ' || concat(message, told, hint) END);
END
$$;
CREATE TABLE world.attempts (number integer PRIMARY KEY, what text NOT NULL, statement text NOT NULL);
GRANT SELECT ON world.attempts TO PUBLIC;
INSERT INTO world.attempts VALUES
    (1, 'a table', 'SELECT * FROM jobstats.entries'),
    (2, 'a view', 'SELECT * FROM jobstats.health'),
    (3, 'raw text', 'SELECT * FROM jobstats.raw_text'),
    (4, 'rejected lines', 'SELECT * FROM jobstats.rejects'),
    (5, 'texts of schedulers', 'SELECT * FROM jobstats.texts'),
    (6, 'a sequence', 'SELECT * FROM jobstats.job_ids_job_no_seq'),
    (7, 'what the catalog says of sequences', 'SELECT last_value FROM pg_sequences WHERE schemaname = ''jobstats'' AND last_value IS NOT NULL'),
    (8, 'statistics of columns', 'SELECT * FROM pg_stats WHERE schemaname = ''jobstats'''),
    (9, 'who may see what', 'SELECT * FROM jobstats.members'),
    (10, 'a job by its number', 'SELECT to_jsonb(j) FROM jobstats_job(''777'') j UNION ALL SELECT to_jsonb(u) FROM jobstats_job_usage(''777'') u'),
    (11, 'a job by its label', 'SELECT to_jsonb(j) FROM jobstats_job(''770_1'') j UNION ALL SELECT to_jsonb(u) FROM jobstats_job_usage(''770_1'') u'),
    (12, 'an array', 'SELECT to_jsonb(j) FROM jobstats_job(''770'') j UNION ALL SELECT to_jsonb(u) FROM jobstats_job_usage(''770'') u'),
    (13, 'a job that is a bare number', 'SELECT to_jsonb(j) FROM jobstats_job(''77'') j UNION ALL SELECT to_jsonb(u) FROM jobstats_job_usage(''77'') u'),
    (14, 'a job among others', 'SELECT * FROM jobstats_compare(''{777}'')'),
    (62, 'the runs of a job', 'SELECT * FROM jobstats_jobs(''-infinity'', filter => ''job=777'') UNION ALL SELECT * FROM jobstats_jobs(''-infinity'', filter => ''job=770'')'),
    (63, 'jobs that are done', 'SELECT * FROM jobstats_jobs(''-infinity'', filter => ''uid=4242'') UNION ALL SELECT * FROM jobstats_jobs(''-infinity'', operation => ''read_bytes'', filter => ''job=777'')'),
    (15, 'a filter by uid', 'SELECT * FROM jobstats_totals(at(0), at(20), by => ''uid'', filter => ''uid=4242'')'),
    (16, 'a filter by name', 'SELECT * FROM jobstats_top(at(0), at(20), by => ''user'', filter => ''user=s*'')'),
    (17, 'a filter by identifier', 'SELECT * FROM jobstats_rates(at(0), at(20), by => ''target'', filter => ''entry=777*,secret*'')'),
    (18, 'a filter by node', 'SELECT * FROM jobstats_summary(at(0), at(20), ''node'', filter => ''node=s*'')'),
    (19, 'a filter by account', 'SELECT * FROM jobstats_totals(at(0), at(20), by => '''', filter => ''account=secret*'')'),
    (20, 'everything but what is hers', 'SELECT * FROM jobstats_totals(at(0), at(20), by => '''', exclude => ''{"uid": [1000]}'')'),
    (21, 'a filter of NULL', 'SELECT * FROM jobstats_totals(at(0), at(20), by => ''job'', filter => ''uid='')'),
    (22, 'all identifiers together', 'SELECT total FROM jobstats_totals(at(0), at(20), ''write'', '''', filter => ''entry=*:*,*.*,22,77'') WHERE total > 18'),
    (23, 'the number of users at a rate', 'SELECT * FROM jobstats_densities(at(0), at(20), ''write'') WHERE count > 1'),
    (24, 'the share of who did most', 'SELECT * FROM jobstats_top(at(0), at(20), ''write'', ''uid'') WHERE rank > 1 OR share < 1'),
    (25, 'sizes of others', 'SELECT * FROM jobstats_io_sizes(at(0), at(20), ''uid'') WHERE calls > 18'),
    (26, 'who made the difference', 'SELECT * FROM jobstats_changes(at(0), at(10), ''write'', ''uid'', at(10), at(20)) WHERE name <> ''1000'''),
    (27, 'findings', 'SELECT * FROM jobstats_findings(at(0), at(20), ''uid'', ''good,fair,bad'') WHERE name <> ''1000'''),
    (28, 'the verdict', 'SELECT * FROM jobstats_verdict(at(0), at(20), ''uid'') WHERE groups > 1'),
    (29, 'who is at work', 'SELECT * FROM jobstats_now(n => 10)'),
    (30, 'whose an entry is', 'SELECT * FROM jobstats_internal.entries()'),
    (31, 'the work of entries', 'SELECT * FROM jobstats_internal.work()'),
    (32, 'space', 'SELECT * FROM jobstats_space() UNION ALL SELECT * FROM jobstats_space(by => ''group'') UNION ALL SELECT * FROM jobstats_space(by => '''', filter => ''user=secret*'')'),
    (33, 'metrics', 'SELECT * FROM jobstats_metrics()'),
    (34, 'the audit', 'SELECT * FROM jobstats_audit(at(0), at(20))'),
    (35, 'attributed work', 'SELECT * FROM jobstats_job_usage(''777'', ''node'') WHERE operation LIKE ''attributed%'''),
    (36, 'names, by an internal function', 'SELECT * FROM jobstats_internal.user_names(timestamptz ''-infinity'', timestamptz ''infinity'')'),
    (37, 'attributed work, by an internal function', 'SELECT * FROM jobstats_internal.attributed(1)'),
    (38, 'the rights of the owner', 'SELECT jobstats_internal.as_owner(''maintain'', NULL)'),
    (39, 'the name of another', 'SELECT set_config(''role'', ''regress_eve'', true)'),
    (40, 'a right for herself', 'SELECT jobstats_grant_own(''regress_ada'', 4242)'),
    (41, 'functions on text', 'SELECT * FROM jobstats_parse(''x'')'),
    (42, 'a setting for row security', 'SELECT set_config(''row_security'', ''off'', false) UNION ALL SELECT name FROM jobstats_totals(at(0), at(20), by => ''uid'') WHERE name <> ''1000''');
SET SESSION AUTHORIZATION regress_ada;
SET client_min_messages = warning;
SELECT concat_ws(': ', attempt(number, statement), what) AS attempt FROM attempts ORDER BY number;
RESET client_min_messages;
-- 43: another user's job and an unknown job have the same answer.
SELECT count(*) FROM jobstats_job_usage('777');
SELECT count(*) FROM jobstats_job_usage('666');
SELECT count(*) FROM jobstats_job('777');
SELECT count(*) FROM jobstats_job('666');
SELECT count(*) FROM jobstats_totals(at(0), at(20), by => 'job', filter => 'job=777 user=secreteve');
SELECT count(*) FROM jobstats_totals(at(0), at(20), by => 'job', filter => 'job=666 user=nobody');
-- 65: numbers of other users' jobs before accounting knew them, by job and over time.
SELECT operation, total FROM jobstats_job_usage('22', '') WHERE operation = 'write';
SELECT operation, total FROM jobstats_job_usage('22', '', since => at(-2000), until => at(-1400)) WHERE operation = 'write';
SELECT job, rate * 600 AS writes FROM jobstats_compare('{22}', NULL, 'write');
SELECT "time", total FROM jobstats_totals(at(-2000), at(20), 'write', '', filter => 'job=22'), at(0) AS "time";
-- 66: the accounting of another user's job that her own entry matched.
SELECT labels FROM jobstats_summary(at(0), at(20), 'job,account,job_name,state', filter => 'job=780');
-- 44: plans have no rows of others, nor of her own.
EXPLAIN (COSTS) SELECT * FROM jobstats_totals(at(0), at(20), by => 'uid') WHERE name = '4242';
-- 45: the server's log, of statements and of plans, is not sent to her. The first call fills PostgreSQL's caches, whose growth it also
-- logs.
SELECT name, total FROM jobstats_totals(at(0), at(20), 'write', 'uid') \g /dev/null
SET client_min_messages = debug1;
SELECT name, total FROM jobstats_totals(at(0), at(20), 'write', 'uid');
SET client_min_messages = log;
BEGIN;
SELECT set_config('debug_print_plan', 'on', true) AS print, (SELECT sum(total) FROM jobstats_totals(at(0), at(20), 'write', 'uid')) AS total;
ROLLBACK;
RESET client_min_messages;
-- 46: a condition that raises its argument.
CREATE FUNCTION world.leaky(value text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE NOTICE 'asked for %', value; RETURN true; END $$;
SELECT total FROM jobstats_totals(at(0), at(20), 'write', 'job') WHERE leaky(name) ORDER BY total;
-- 47: her own functions and operators, found before PostgreSQL's.
CREATE FUNCTION world.pg_has_role(oid, regrole, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION world.always(name, name) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE OPERATOR world.= (FUNCTION = world.always, LEFTARG = name, RIGHTARG = name);
CREATE FUNCTION world.always(bigint, bigint) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE OPERATOR world.= (FUNCTION = world.always, LEFTARG = bigint, RIGHTARG = bigint);
SET search_path = world, public, pg_catalog;
SELECT name, total FROM jobstats_totals(at(0), at(20), 'write', 'uid');
-- 48: the same in her temporary schema.
CREATE FUNCTION pg_temp.pg_has_role(oid, regrole, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE TEMP TABLE members AS SELECT 'regress_ada'::regrole AS role, 4242::bigint AS uid, NULL::text AS account;
SET search_path = pg_temp, public, world, pg_catalog;
SELECT name, total FROM jobstats_totals(at(0), at(20), 'write', 'uid');
SET search_path = public, world;
-- 49: a value of her own type, with a cast of her own.
CREATE TYPE world.wish AS (uid bigint);
CREATE FUNCTION world.granted(world.wish) RETURNS jobstats_filter LANGUAGE sql AS $$ SELECT 'uid=1000'::jobstats_filter $$;
CREATE CAST (world.wish AS jobstats_filter) WITH FUNCTION world.granted(world.wish) AS IMPLICIT;
SELECT count(*) FROM jobstats_totals(at(0), at(20), by => 'uid', exclude => ROW(1)::world.wish);
-- 50: on behalf of a user that is not hers.
SET jobstats.on_behalf_of = 'regress_eve';
SELECT name, total FROM jobstats_totals(at(0), at(20), 'write', 'uid');
RESET jobstats.on_behalf_of;
-- 51: a function that sets it.
CREATE FUNCTION world.as_eve() RETURNS TABLE (name text) LANGUAGE sql SET jobstats.on_behalf_of = 'regress_eve' AS $$ SELECT t.name FROM public.jobstats_totals(world.at(0), world.at(20), 'write', 'uid') t $$;
-- 52: a view of Eve's, and a view of hers for Eve: each sees their own jobs.
CREATE VIEW world.of_ada AS SELECT name, total FROM jobstats_totals(at(0), at(20), 'write', 'uid');
GRANT SELECT ON world.of_ada TO regress_eve;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_eve;
SELECT * FROM of_ada;
RESET SESSION AUTHORIZATION;
-- 53: a statement that who sees all has prepared.
PREPARE totals AS SELECT name, total FROM jobstats_totals(at(0), at(20), 'write', 'uid') ORDER BY name;
EXECUTE totals;
SET SESSION AUTHORIZATION regress_ada;
EXECUTE totals;
-- 54: a cursor that was open when the right was taken.
BEGIN;
DECLARE kept CURSOR FOR SELECT name FROM jobstats_totals(at(0), at(20), 'write', 'uid');
RESET SESSION AUTHORIZATION;
DELETE FROM jobstats.members WHERE role = 'regress_ada'::regrole;
SET LOCAL SESSION AUTHORIZATION regress_ada;
FETCH ALL FROM kept;
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
RESET SESSION AUTHORIZATION;

-- Of a front end.
SET SESSION AUTHORIZATION regress_web;
\set ask 'SELECT name, total FROM jobstats_totals(at(0), at(20), \'write\', \'uid\');'
-- 55 to 58: on behalf of no user, of a user without that right, of itself, of a user who sees all.
SELECT name FROM jobstats_totals(at(0), at(20), 'write', 'uid');
\echo :LAST_ERROR_SQLSTATE
SET jobstats.on_behalf_of = '';
:ask
SET jobstats.on_behalf_of = 'nobody';
:ask
SET jobstats.on_behalf_of = 'regress_web';
:ask
SET jobstats.on_behalf_of = 'regress_all';
:ask
SET jobstats.on_behalf_of = 'postgres';
:ask
-- 59: then target counters are hidden too.
SELECT count(*) FROM jobstats_totals(at(0), at(20));
-- 60: Ada; and after the transaction no user.
BEGIN;
SET LOCAL jobstats.on_behalf_of = 'regress_ada';
:ask
COMMIT;
:ask
-- 64: users by number: root, nobody, a system user, a number without the prefix, no number; Ada, and with an account that she manages.
SET jobstats.on_behalf_of = 'uid:0';
:ask
SET jobstats.on_behalf_of = 'uid:4243';
:ask
SET jobstats.on_behalf_of = 'uid:999';
:ask
SET jobstats.on_behalf_of = '1000';
:ask
SET jobstats.on_behalf_of = 'uid:1000 OR true';
:ask
SET jobstats.on_behalf_of = 'uid:1000';
:ask
RESET SESSION AUTHORIZATION;
INSERT INTO jobstats.managers VALUES (1000, 'secretaccount');
SET SESSION AUTHORIZATION regress_web;
SELECT job, state FROM jobstats_jobs('-infinity');
RESET SESSION AUTHORIZATION;
DELETE FROM jobstats.managers;
SET jobstats.on_behalf_of = 'regress_eve';
-- 61: a name that is another's by now.
ALTER ROLE regress_eve RENAME TO regress_mallory;
ALTER ROLE regress_ada RENAME TO regress_eve;
SET SESSION AUTHORIZATION regress_web;
:ask
RESET SESSION AUTHORIZATION;
RESET jobstats.on_behalf_of;
DROP SCHEMA world CASCADE;
DELETE FROM jobstats.members;
DELETE FROM jobstats.proxies;
DROP OWNED BY regress_all, regress_eve, regress_mallory;
DROP ROLE regress_eve, regress_mallory, regress_web, regress_all;
