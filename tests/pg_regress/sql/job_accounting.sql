-- A job as a whole, with the scheduler's accounting.
\i reading.sql
\set ECHO all
\set VERBOSITY default
\pset null '(null)'
SELECT jobstats_setup(retention => '100 years', raw_retention => '100 years', compress_after => '100 years') IS NOT NULL AS ready;

-- sacct prints 4700_4, a requeued job, a pending one, an idle one, and 14 of two clusters; LSF and a reused number are written by hand.
CREATE FUNCTION world.run(job text, label text, scheduler text, started numeric, ended numeric, uid integer, account text, state text,
    exit_code text DEFAULT '0:0', nodes integer DEFAULT 2)
RETURNS text LANGUAGE sql AS $$
SELECT concat_ws('|', job, label, scheduler, extract(epoch FROM at(coalesce(started, 100) - 5))::bigint, coalesce(extract(epoch FROM at(started))::bigint::text, 'Unknown'),
    coalesce(extract(epoch FROM at(ended))::bigint::text, 'Unknown'), uid, 'user' || uid, account, 'main', state, exit_code, nodes, 16 * nodes, 'sim ' || job) || E'\n'
$$;
SELECT i.action FROM jobstats_ingest('', 'slurm', at(200), source => 'slurm',
    body => translate(E'JobIDRaw|JobID|Cluster|Submit|Start|End|UID|User|Account|Partition|State|ExitCode|NNodes|NCPUS|JobName\n'
    || run('4711', '4700_4', 'alpha', 0, 40, 1000, 'physics', 'COMPLETED')
    || run('5', '5', 'alpha', 0, 10, 1000, 'physics', 'NODE_FAIL', '1:0') || run('5', '5', 'alpha', 20, 40, 1000, 'physics', 'COMPLETED', '0:0', 4)
    || run('6', '6', 'alpha', 0, 10, 1001, 'bio', 'FAILED', '2:0') || run('7', '7', 'alpha', NULL, NULL, 1001, 'bio', 'PENDING')
    || run('14', '14', 'alpha', 0, 20, 1000, 'physics', 'COMPLETED') || run('14', '14', 'beta', 5, 25, 1001, 'bio', 'COMPLETED'), '|', chr(31))) i;
INSERT INTO jobstats.jobs (scheduler, job, label, submitted, started, ended, user_name, job_name, state, nodes, cpus, exit_code, source, updated)
SELECT 'lsf', '815', format('815[%s]', n), at(0), at(10 * n), at(10 * n + 10), 'eva', 'scan', CASE n WHEN 3 THEN 'EXIT' ELSE 'DONE' END, 1, 1, n, 'lsf', at(200)
FROM generate_series(1, 3) AS n
UNION ALL
SELECT 'lsf', '900', '900', at(m), at(m), at(m + 30), u, 'again', 'DONE', 1, 1, '0', 'lsf', at(200)
FROM (VALUES (-43200, 'cai'), (0, 'bo')) AS r (m, u);
INSERT INTO jobstats.users (uid, user_name) VALUES (1000, 'ada') ON CONFLICT (uid) DO UPDATE SET user_name = excluded.user_name;

DO $$ BEGIN
    PERFORM observe('scratch-OST0000', 'oss1', -43210, -43190, 0, 10, 20, 30, 40, 50);
    PERFORM act('scratch-OST0000', id || ':1000:n01', 0, 10, '{"write": 10, "write_usecs": 1200000000, "write_bytes": 100}') FROM unnest('{4711,5,14}'::text[]) AS id;
    PERFORM act('scratch-OST0000', id || ':1000:n02', 20, 30, '{"read": 10, "read_usecs": 600000000, "read_bytes": 4096}') FROM unnest('{4711,5}'::text[]) AS id;
    PERFORM act('scratch-OST0000', '14:1001:n03', 10, 20, '{"write": 10, "write_usecs": 600000000, "write_bytes": 100}');
    PERFORM act('scratch-OST0000', '815', 10, 20, '{"write": 10, "write_usecs": 600000000, "write_bytes": 100}');
    PERFORM act('scratch-OST0000', '900', -43210, -43190, '{"write": 10, "write_usecs": 600000000, "write_bytes": 1}');
    PERFORM act('scratch-OST0000', '900', 10, 20, '{"write": 10, "write_usecs": 600000000, "write_bytes": 100}');
    PERFORM act('scratch-OST0000', '77', 10, 20, '{"write": 10, "write_bytes": 1}');
END $$;
UPDATE jobstats.entries SET first_seen = at(-43210) WHERE job = '900';

-- The element of an array, under what its user types: its accounting and its usage. Two nodes for 40 minutes: 1800 s / 4800 s.
SELECT * FROM jobstats_job('4700_4') \gx
SELECT count(*) FROM (SELECT * FROM jobstats_job('4700_4') EXCEPT SELECT * FROM jobstats_job(4711)) changed;
SELECT "time", operation, total, nodes FROM jobstats_job_usage('4700_4', '') WHERE operation IN ('read', 'service_time');
-- By node, in a window and in steps.
SELECT name, total FROM jobstats_job_usage('4711', 'node') WHERE operation = 'service_time';
SELECT name, total FROM jobstats_job_usage('4711', since => at(0), until => at(20)) WHERE operation = 'service_time';
SELECT "time", name, total FROM jobstats_job_usage('4711', '', '10 minutes') WHERE operation = 'service_time';

-- A requeued job: two nodes for 10 minutes, then four for 20. Its state and its nodes come from the last run; other columns on which its
-- runs differ are NULL.
SELECT runs, nodes, state, exit_code, started, ended, run_time, cpus, service_time, in_service FROM jobstats_job('5');
SELECT "time", nodes, total FROM jobstats_job_usage('5', '') WHERE operation = 'service_time';
-- The elements of an array that share a number.
SELECT job, label, runs, user_name, state, exit_code, started, ended, run_time, in_service FROM jobstats_job('815[2]');
SELECT name, total FROM jobstats_job_usage('815[2]', 'node') WHERE operation = 'service_time';
-- Two schedulers: each has its job, but to know the usage one must be chosen.
SELECT scheduler, user_name, account, write_bytes, in_service FROM jobstats_job('14');
SELECT count(*) FROM jobstats_job_usage('14', '');
-- A federation revokes the siblings of a job that never began elsewhere: there is no choice to make.
BEGIN;
INSERT INTO jobstats.jobs (scheduler, job, label, submitted, state, source, updated) VALUES ('beta', '4711', '4711', at(-5), 'REVOKED', 'slurm', at(200));
SELECT scheduler, state, write_bytes FROM jobstats_job('4711');
SELECT scheduler, state, write_bytes FROM jobstats_job('4711', 'alpha');
SELECT scheduler, state, write_bytes FROM jobstats_job('4711', 'beta');
SELECT total FROM jobstats_job_usage('4711', '') WHERE operation = 'write_bytes';
SELECT total FROM jobstats_job_usage('4711', '', scheduler => 'alpha') WHERE operation = 'write_bytes';
SELECT total FROM jobstats_job_usage('4711', '', scheduler => 'beta') WHERE operation = 'write_bytes';
ROLLBACK;
-- A number that came back is the last job with it; since and until choose another one.
SELECT runs, user_name, started, write_bytes FROM jobstats_job('900');
SELECT total FROM jobstats_job_usage('900', '') WHERE operation = 'write_bytes';
SELECT total FROM jobstats_job_usage('900', '', since => at(-43300), until => at(-43100)) WHERE operation = 'write_bytes';
SELECT total FROM jobstats_job_usage('900', '', since => at(-43300)) WHERE operation = 'write_bytes';
-- A job that accounting does not know yet does not get the user of an old one with its number.
INSERT INTO jobstats.jobs (scheduler, job, label, started, ended, user_name, state, nodes, source, updated)
VALUES ('lsf', '901', '901', at(-43200), at(-43190), 'cai', 'DONE', 1, 'lsf', at(200));
DO $$ BEGIN
    PERFORM act('scratch-OST0000', '901', -43210, -43190, '{"write": 10, "write_bytes": 1}');
    PERFORM act('scratch-OST0000', '901', 10, 20, '{"write": 10, "write_bytes": 100}');
END $$;
UPDATE jobstats.entries SET first_seen = at(-43210) WHERE job = '901';
SELECT runs, user_name, started, write_bytes FROM jobstats_job('901');
SELECT total FROM jobstats_job_usage('901', '') WHERE operation = 'write_bytes';
SELECT total FROM jobstats_job_usage('901', '', until => at(-43000)) WHERE operation = 'write_bytes';
SELECT since_start, job, rate, total, "time" FROM jobstats_compare('{901}', operations => 'write_bytes');

-- A job that was idle, a pending one, one unknown to accounting, an unknown one.
SELECT j.job, user_name, account, state, exit_code, started, ended, write_bytes, in_service FROM unnest('{6,7,77}'::text[]) asked, jobstats_job(asked) j;
SELECT submitted, run_time FROM jobstats_job('7');
SELECT count(*) FROM jobstats_job_usage('6');
SELECT count(*) FROM jobstats_job_usage('7');
SELECT operation, total FROM jobstats_job_usage('77', '');
SELECT count(*) FROM jobstats_job('8');
SELECT count(*) FROM jobstats_job_usage('8');
-- A window in which it did not run is empty.
SELECT count(*) FROM jobstats_job_usage('4711', since => at(100), until => at(110));

-- A running job, as far as its targets were observed, and a lost one.
UPDATE jobstats.schedulers SET newest = now() WHERE scheduler = 'alpha';
INSERT INTO jobstats.jobs (scheduler, job, label, started, state, nodes, source, updated)
VALUES ('alpha', '4712', '4712', now() - interval '20 minutes', 'RUNNING', 1, 'slurm', now()),
    ('alpha', '4713', '4713', at(0), 'RUNNING', 1, 'slurm', at(30));
DO $$ BEGIN
    PERFORM observe('', 'scratch-OST0001', 'oss1', ARRAY[now() - interval '30 minutes', now() - interval '10 minutes']);
    UPDATE jobstats.targets SET last_observation = now() - interval '10 minutes' WHERE name = 'scratch-OST0001';
    PERFORM act('', 'scratch-OST0001', '4712', now() - interval '20 minutes', now() - interval '10 minutes', '{"write": 10, "write_usecs": 300000000}');
    PERFORM act('scratch-OST0000', '4713', 0, 10, '{"write": 10, "write_usecs": 300000000}');
END $$;
SELECT state, ended, round(in_service::numeric, 3) AS in_service, run_time BETWEEN interval '19 minutes' AND interval '21 minutes' AS runs FROM jobstats_job('4712');
SELECT state, ended, service_time, in_service FROM jobstats_job('4713');

-- Very many runs: all of them count.
INSERT INTO jobstats.jobs (scheduler, job, label, started, ended, state, nodes, source, updated)
SELECT 'lsf', '816', format('816[%s]', n), at(0), at(10), 'DONE', 1, 'lsf', at(200) FROM generate_series(1, 1500) AS n;
DO $$ BEGIN PERFORM act('scratch-OST0000', '816', 0, 10, '{"write": 10, "write_usecs": 900000000}'); END $$;
SELECT runs, run_time, service_time, in_service FROM jobstats_job('816');
SELECT operation, total FROM jobstats_job_usage('816', '');

-- A number of two schedulers: the work of each, by the identifiers that were matched with its job. What fits both is in neither.
DO $$ BEGIN PERFORM act('scratch-OST0000', '14', 10, 20, '{"write": 1, "write_usecs": 1000000, "write_bytes": 7}'); END $$;
CALL jobstats_maintain();
SELECT scheduler, user_name, account, write_bytes, service_time, in_service FROM jobstats_job('14');
SELECT scheduler, user_name, write_bytes FROM jobstats_job(14, 'beta');
SELECT operation, total FROM jobstats_job_usage('14', '', scheduler => 'alpha') WHERE operation IN ('write_bytes', 'service_time');
SELECT name, operation, total FROM jobstats_job_usage(14, 'node', since => at(0), until => at(20), scheduler => 'beta') WHERE operation = 'write_bytes';
SELECT job, rate, total FROM jobstats_compare('{14}', NULL, 'write');
SELECT job, rate, total FROM jobstats_compare('{14,8}', NULL, 'write', scheduler => 'alpha');
-- Where one scheduler has the number, choosing it makes no difference.
SELECT count(*) FROM (SELECT * FROM jobstats_job('815', 'lsf') EXCEPT SELECT * FROM jobstats_job('815')) changed;
SELECT count(*) FROM (SELECT * FROM jobstats_job_usage('815', scheduler => 'lsf') EXCEPT SELECT * FROM jobstats_job_usage('815')) changed;
SELECT count(*) FROM jobstats_job('14', 'gamma');
SELECT count(*) FROM jobstats_job_usage('14', scheduler => 'gamma');
SELECT count(*) FROM jobstats_job_usage('14', since => at(100), until => at(110), scheduler => 'alpha');
SELECT count(*) FROM jobstats_job_usage('8', scheduler => 'alpha');
