-- Hostile accounting and hostile arguments do not make questions about a job or its summary slower, and do not reveal other users' jobs.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
SET statement_timeout = '10min';
DO $$ BEGIN
    PERFORM jobstats_setup(retention => '100 years', compress_after => '100 years');
    PERFORM observe('scratch-OST0000', 'oss1', 0, 10, 20, 30);
    PERFORM act('scratch-OST0000', id || ':1000:n01', 0, 10, '{"write": 10, "write_usecs": 600000000}') FROM unnest('{1,2,3}'::text[]) AS id;
END $$;

-- Runs from 1970 to 2199, of no time, that end before they begin, without an end or of no nodes; of a scheduler whose name is an escape sequence.
INSERT INTO jobstats.jobs (scheduler, job, label, submitted, started, ended, user_name, state, nodes, cpus, source, updated) VALUES
    ('s', '1', '1', '1970-01-01 00:00:01', '1970-01-01 00:00:01', '2199-12-31 23:59:59', 'eve', 'COMPLETED', 9223372036854775807, 9223372036854775807, 'slurm', now()),
    (E's\x1b[31m', '2', '2', at(0), at(0), at(0), 'eve', 'COMPLETED', 0, -1, 'slurm', now()),
    ('s', '2', '2', at(30), at(30), at(0), 'eve', 'COMPLETED', 1, 1, 'slurm', now()),
    ('s', '4', '%', at(0), at(0), at(10), 'eve', 'COMPLETED', 1, 1, 'slurm', now()),
    ('s', '5', '_', at(0), at(0), at(10), 'eve', 'COMPLETED', 1, 1, 'slurm', now()),
    ('s', '3', '\', at(0), at(0), at(10), 'ada', 'COMPLETED', 1, 1, 'slurm', now());
SELECT run_time, in_service FROM jobstats_job('1');
SELECT operation, total FROM jobstats_job_usage('1', '');
SELECT operation, total FROM jobstats_job_usage('1', '', since => at(0), until => at(10));
SELECT replace(scheduler, E'\x1b', '?') AS scheduler, run_time, in_service FROM jobstats_job('2') ORDER BY 1;
SELECT count(*) FROM jobstats_compare('{1}', '1 hour');
SELECT since_start, total, rate FROM jobstats_compare('{2,1}', NULL, 'write');
-- A label is no pattern.
SELECT label, service_time FROM jobstats_job('%');
SELECT label, service_time FROM jobstats_job('_');
SELECT label, service_time FROM jobstats_job('\');
SELECT count(*) FROM jobstats_compare('{%,_}', NULL);
-- Nor is a name that the user chose. Only an unescaped star is a pattern. Alone it is no filter, so it excludes no rows.
CREATE TABLE world.chosen AS SELECT name, 2000 + n AS uid FROM unnest(ARRAY['a_b', 'axb', 'a%b', '100%', '100x', '*', 'a*', '\*', '\x', '\\']) WITH ORDINALITY AS c (name, n);
DO $$ BEGIN PERFORM act('scratch-OST0000', format('%s:%1$s:n01', c.uid), 10, 20, '{"write": 1}') FROM chosen c; END $$;
UPDATE jobstats.entries e SET job = c.name, node = c.name FROM chosen c WHERE e.uid = c.uid;
INSERT INTO jobstats.users (uid, user_name) SELECT c.uid, c.name FROM chosen c;
INSERT INTO jobstats.job_ids (scheduler, job, label, runs, started, last_started, ended, uid, account, job_name, state, job_group)
SELECT 's', c.name, c.name, 1, at(0), at(0), at(20), c.uid, c.name, c.name, 'COMPLETED', c.name FROM chosen c;
INSERT INTO jobstats.entry_jobs (entry_id, job_no, valid_from, valid_to, status, alone)
SELECT e.entry_id, i.job_no, '2025-11-03', 'infinity', 'known', true FROM jobstats.entries e JOIN jobstats.job_ids i USING (job) WHERE i.uid > 2000;
SELECT a.asked, array_agg(DISTINCT c.name COLLATE "C") AS found, count(*) = 6 * count(DISTINCT c.name) AS each
FROM unnest(ARRAY['a_b', 'a%b', '100%', '%', '_', '\x', 'a*', 'a\*', '*b', '\*', '\\', '\\*', '\\\*', '*\', '*']) WITH ORDINALITY AS a (asked, n)
CROSS JOIN LATERAL (
    SELECT t.name FROM unnest('{job,user,account,node,job_name}'::text[]) AS key,
        jobstats_totals(at(10), at(20), 'write', 'uid', filter => jsonb_build_object(key, ARRAY[a.asked])) t
    UNION ALL (SELECT c.uid::text FROM chosen c EXCEPT
        SELECT t.name FROM jobstats_totals(at(10), at(20), 'write', 'uid', exclude => jsonb_build_object('user', ARRAY[a.asked])) t)
) t
JOIN chosen c ON c.uid::text = t.name
GROUP BY a.n, a.asked ORDER BY a.n;
SELECT c.name, (SELECT sum(j.calls) FROM jobstats_job_usage(c.name, '', since => at(10), until => at(20)) j WHERE j.operation = 'write') AS calls FROM chosen c ORDER BY c.uid;

-- Very many runs with long names: the last ten thousand count. Other jobs are as before.
INSERT INTO jobstats.jobs (scheduler, job, label, started, ended, user_name, job_name, state, nodes, source, updated)
SELECT 's', '6', format('6[%s]', n), at(0) + n * interval '1 second', at(10) + n * interval '1 second', 'eve' || n % 3, repeat(md5(n::text), 100), 'DONE', 1, 'lsf', now()
FROM generate_series(1, 30000) AS n;
SELECT runs, started - at(0) AS started, ended - at(0) AS ended, user_name FROM jobstats_job('6');
SELECT user_name, service_time, in_service FROM jobstats_job('3');
SELECT count(*) FROM jobstats_compare(ARRAY(SELECT '6[' || n || ']' FROM generate_series(1, 3) AS n), NULL, 'write');

-- Maintenance summarizes ended jobs, whatever their times are, and does not stop.
INSERT INTO jobstats.to_match (job) SELECT DISTINCT j.job FROM jobstats.jobs j;
CALL jobstats_maintain();
SELECT DISTINCT step, problem FROM jobstats.maintenance WHERE problem IS NOT NULL OR step = 'summaries';
SELECT job, label, replace(scheduler, E'\x1b', '?') AS scheduler, runs, run_time, service_time, in_service FROM jobstats.job_summaries ORDER BY job, scheduler, runs;
SELECT job, due FROM jobstats.to_summarize q JOIN jobstats.job_ids i USING (job_no);

-- Only readers may read them.
CREATE ROLE regress_reading;
CREATE ROLE regress_nothing;
DO $$ BEGIN PERFORM jobstats_grant_reader('regress_reading'); END $$;
GRANT USAGE ON SCHEMA world TO regress_reading, regress_nothing;
SET ROLE regress_reading;
SELECT count(*) > 0 AS rows FROM jobstats.job_summaries;
SELECT count(*) FROM jobstats_compare('{3}', NULL, 'write');
DELETE FROM jobstats.job_summaries;
SELECT jobstats_internal.summarize_some();
SELECT jobstats_internal.queue_changed_summaries();
SET ROLE regress_nothing;
SELECT count(*) FROM jobstats.job_summaries;
SELECT count(*) FROM jobstats_compare('{3}', NULL, 'write');
SELECT count(*) FROM jobstats_job_usage('3');
RESET ROLE;
DROP OWNED BY regress_reading, regress_nothing;
DROP ROLE regress_reading, regress_nothing;
