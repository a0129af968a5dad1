-- Work without a job that a job is likely to have done is shown by jobstats_job_usage(), and counts for no job.
\i store.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
DO $$ BEGIN PERFORM jobstats_setup(retention => '100 years', raw_retention => '100 years', compress_after => '100 years'); END $$;
UPDATE texts.clock SET zero = '2025-11-03 08:00+00';
CREATE FUNCTION texts.run(job text, label text, started numeric, ended numeric, uid integer, nodes integer, list text)
RETURNS text LANGUAGE sql AS $$
SELECT concat_ws('|', job, label, 'alpha', extract(epoch FROM at(started - 1))::bigint, extract(epoch FROM at(started))::bigint,
    coalesce(extract(epoch FROM at(ended))::bigint::text, 'Unknown'), uid, 'user' || uid, CASE WHEN ended IS NULL THEN 'RUNNING' ELSE 'COMPLETED' END, nodes, list)
    || E'\n'
$$;
CREATE FUNCTION texts.account(minute numeric, runs text) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (server, "time", body, source)
VALUES ('slurm1', at(minute), translate(E'JobIDRaw|JobID|Cluster|Submit|Start|End|UID|User|State|NNodes|NodeList\n' || runs, '|', chr(31)), 'slurm')
$$;
CREATE VIEW attributed AS
SELECT i.job, e.name AS entry, minute(a.since) AS since, minute(a.until) AS until
FROM jobstats.job_ids i CROSS JOIN LATERAL jobstats_internal.attributed(i.job_no) a JOIN jobstats.entries e USING (entry_id);

-- 21 is on n01 and n02, 22 of the same user on n02 for a part of the time, 23 is another user's, and 24 runs on.
SELECT account(200, run('21', '20_1', 0, 95, 1000, 2, 'n[01-02]') || run('22', '22', 45, 60, 1000, 1, 'n02') || run('23', '23', 0, 100, 1001, 2, 'n[01-02]')
    || run('24', '24', 60, NULL, 1002, 2, 'n[08-09]'));
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', at(o.minute), ost('scratch-OST0000',
    (SELECT string_agg(record(id, o.minute::integer, o.minute::integer * 4096), '' ORDER BY id)
     FROM unnest(ARRAY['21:1000:n01', ':1000:n01', ':1000:n02.cluster', ':1000:n03', ':0:n01', ':1002:n09', 'cp.1000', ':1003:n01']) AS id))
FROM generate_series(-10, 120, 10) AS o (minute);
CALL jobstats_maintain();
SELECT * FROM attributed ORDER BY job, entry COLLATE "C", since;
SELECT name, first, last_active, operation, total FROM jobstats_job_usage('20_1', 'node', since => at(10), until => at(35)) WHERE operation = 'attributed_write_bytes';
SELECT count(*) FROM jobstats_job_usage('23') WHERE operation LIKE 'attributed%';
SELECT count(*) FROM jobstats_job_usage('nobody');
SELECT * FROM jobstats_job_usage(NULL::text);

-- It counts once: as work of the user, and of no job.
SELECT name, total FROM jobstats_totals(at(-10), at(120), 'write_bytes', 'job,uid') WHERE labels @> '{"uid": 1000}' ORDER BY name;
SELECT total FROM jobstats_totals(at(-10), at(120), 'write_bytes', '', filter => 'job=21');

-- It is shown next to the usage of the job, under separate operations: as a whole, by group, and within a window.
SELECT "time", name, operation, total, calls, per_call, first, last_active, nodes FROM jobstats_job_usage('20_1', 'node') WHERE operation LIKE '%write%';
SELECT name, operation, total, rate, max_rate, min, coverage, labels FROM jobstats_job_usage('21') WHERE operation LIKE 'attributed%';
SELECT label, user_name, run_time, write_bytes, in_service FROM jobstats_job('21');
SELECT name, operation, total, first, last_active FROM jobstats_job_usage('21', 'node', since => at(10), until => at(35)) WHERE operation LIKE '%write_bytes';
SELECT "time", operation, total FROM jobstats_job_usage('21', '', '1 hour') WHERE operation LIKE '%write_bytes';
SELECT operation, sum(total) FILTER (WHERE name <> 'all') = sum(total) FILTER (WHERE name = 'all') AS is_all
FROM jobstats_job_usage('21', 'node') WHERE operation LIKE 'attributed%' GROUP BY 1 ORDER BY 1;
-- A job whose processes all lack its number; a job of a user without such I/O, and one that accounting does not know.
SELECT operation, total, nodes FROM jobstats_job_usage('24');
SELECT nodes, write_bytes FROM jobstats_job('24');
SELECT operation FROM jobstats_job_usage('23');
SELECT operation FROM jobstats_job_usage('99');

-- A node of another class has no jobs, whatever accounting has.
BEGIN;
INSERT INTO jobstats.nodes (pattern, class) VALUES ('n*', 'compute'), ('n01', 'login');
SELECT DISTINCT entry FROM attributed WHERE job = '21' ORDER BY 1;
ROLLBACK;
-- A job of the user with an unknown node list may have been on any of them: the list is missing or incomplete.
SELECT account(300, run('25', '25', 50, 60, 1000, 1, ''));
CALL jobstats_maintain();
SELECT * FROM attributed WHERE job = '21' ORDER BY entry COLLATE "C", since;
SELECT account(301, run('26', '26', 10, 20, 1000, 2, 'n07'));
CALL jobstats_maintain();
SELECT * FROM attributed WHERE job = '21' ORDER BY entry COLLATE "C", since;

-- Readers may call it.
CREATE ROLE regress_attributed_reader;
SELECT jobstats_grant_reader('regress_attributed_reader');
SET ROLE regress_attributed_reader;
SELECT count(*) > 0 AS is_shown FROM jobstats_job_usage('21') WHERE operation LIKE 'attributed%';
SELECT count(*) > 0 AS is_shown FROM jobstats.job_quality;
RESET ROLE;
DROP OWNED BY regress_attributed_reader;
DROP ROLE regress_attributed_reader;
