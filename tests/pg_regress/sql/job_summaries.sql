-- Maintenance sums up each job that is done, and keeps the sums when the job is gone.
\i store.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
DO $$ BEGIN PERFORM jobstats_setup(retention => '100 years', raw_retention => '100 years', compress_after => '100 years'); END $$;
UPDATE texts.clock SET zero = '2025-11-03 08:00+00';
CREATE FUNCTION run(job text, label text, scheduler text, started numeric, ended numeric, uid integer, account text, state text DEFAULT 'COMPLETED')
RETURNS text LANGUAGE sql AS $$
SELECT concat_ws('|', job, label, scheduler, extract(epoch FROM at(started - 1))::bigint, extract(epoch FROM at(started))::bigint,
    coalesce(extract(epoch FROM at(ended))::bigint::text, 'Unknown'), uid, 'user' || uid, account, state, '0:0', 2, 32) || E'\n'
$$;
CREATE FUNCTION account(minute numeric, runs text) RETURNS text LANGUAGE sql AS $$
SELECT i.action FROM jobstats_ingest('', 'slurm', at(minute), source => 'slurm',
    body => translate(E'JobIDRaw|JobID|Cluster|Submit|Start|End|UID|User|Account|State|ExitCode|NNodes|NCPUS\n' || runs, '|', chr(31))) i
$$;
CREATE VIEW summaries AS
SELECT job, label, runs, account, state, minute(started) AS started, minute(ended) AS ended, run_time, minute(first) AS first, minute(last_active) AS last,
    active_nodes AS nodes, targets, write_bytes, write, metadata, service_time, in_service, busiest_target AS busiest
FROM jobstats.job_summaries ORDER BY job_no;

-- 11 and 12 write every ten minutes, and 11 opens files on a server that reports times; 13 is idle; 14 is requeued, 15 goes on.
CREATE FUNCTION read_until(low integer, high integer) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', at(m), ost('scratch-OST0000', (SELECT string_agg(record(id, m, m * 4096), '' ORDER BY id) FROM unnest(ARRAY['11:1000:n01', '11:1000:n02', '12:1001:n03', '15:1000:n01']) AS id
    WHERE m <= 40 OR id LIKE '15%'))
FROM generate_series(low, high, 10) AS m;
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss2', at(m), ost('scratch-OST0001', record('11:1000:n01', least(m, 40), least(m, 40) * 100) || record('14:1000:n01', least(m, 40), least(m, 40)))
    || mdt('scratch-MDT0000', life('11:1000:n01', at(-10), 10 * least(m, 40), 1000000 * least(m, 40)))
FROM generate_series(low, high, 10) AS m;
$$;
SELECT read_until(0, 60);
SELECT account(60, run('11', '10_1', 'alpha', 0, 40, 1000, 'physics') || run('12', '12', 'alpha', -5, 40, 1001, 'bio')
    || run('13', '13', 'alpha', 5, 10, 1001, 'bio', 'FAILED') || run('14', '14', 'alpha', 0, 10, 1000, 'physics', 'NODE_FAIL')
    || run('14', '14', 'alpha', 20, 40, 1000, 'physics') || run('15', '15', 'alpha', 0, NULL, 1000, 'physics', 'RUNNING')
    || run('9', '9', 'alpha', -90, -70, 1000, 'physics'));
CALL jobstats_maintain();
-- A job that has not ended has no summary, nor has a job that ended before the first observation.
SELECT * FROM summaries;
SELECT operations FROM jobstats.job_summaries WHERE job = '11';
SELECT count(*) FROM jobstats.to_summarize;
-- They equal other functions, and are not rebuilt without need.
SELECT s.job FROM jobstats.job_summaries s
JOIN jobstats_summary(at(-100), at(60)) j ON j.name = s.job
WHERE (s.write_bytes, s.write, s.read_bytes, s.metadata, s.active_nodes, s.first, s.last_active, s.busiest_target)
    IS DISTINCT FROM (j.write_bytes, j.write, j.read_bytes, j.metadata, j.nodes, j.first, j.last_active, j.busiest_target);
SELECT s.job, (s.label, s.runs, s.account, s.state, s.started, s.ended, s.run_time, s.read_bytes, s.write_bytes, s.metadata, s.service_time, s.in_service, s.busiest_target)
    IS NOT DISTINCT FROM (j.label, j.runs, j.account, j.state, j.started, j.ended, j.run_time, j.read_bytes, j.write_bytes, j.metadata, j.service_time, j.in_service, j.busiest_target) AS same
FROM jobstats.job_summaries s, jobstats_job(s.job) j ORDER BY s.job;
CREATE TABLE before AS TABLE jobstats.job_summaries;
CALL jobstats_maintain();
SELECT count(*) FROM (TABLE jobstats.job_summaries EXCEPT TABLE before) changed;

-- Late text changes the summaries of the jobs on its target, and late accounting the summaries of its jobs.
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss2', at(45), ost('scratch-OST0001', record('11:1000:n01', 40, 4000) || record('12:1001:n03', 7, 700) || record('14:1000:n01', 40, 40));
CALL jobstats_maintain();
SELECT job, write, write_bytes, targets FROM jobstats.job_summaries s WHERE NOT EXISTS (SELECT FROM before b WHERE b.job_no = s.job_no AND b.write = s.write);
SELECT s.job FROM jobstats.job_summaries s JOIN before b USING (job_no) WHERE s.made > b.made ORDER BY s.job;
SELECT account(61, run('12', '12', 'alpha', -5, 41, 1001, 'chemistry', 'TIMEOUT'));
CALL jobstats_maintain();
SELECT job, account, state, minute(ended) AS ended FROM jobstats.job_summaries WHERE job = '12';

-- The running job ends.
SELECT count(*) FROM jobstats.job_summaries WHERE job = '15';
SELECT account(70, run('15', '15', 'alpha', 0, 65, 1000, 'physics'));
CALL jobstats_maintain();
SELECT job, write FROM jobstats.job_summaries WHERE job = '15';

-- A job is done when every target has been observed after its end that is not silent: 21 ended 70 minutes ago, its target is read every 25
-- minutes, and was so 55 minutes ago.
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss3', now() - m * interval '1 minute', ost('scratch-OST0002', record('21:1000:n01', 200 - m, (200 - m) * 4096)) FROM unnest('{130,105,80,55}'::integer[]) AS m;
SELECT i.action FROM jobstats_ingest('', 'slurm', now(), source => 'slurm', body => E'JobIDRaw\x1fJobID\x1fCluster\x1fStart\x1fEnd\x1fUID\x1fState\n' || format(E'21\x1f21\x1falpha\x1f%s\x1f%s\x1f1000\x1fCOMPLETED\n',
    extract(epoch FROM now() - interval '130 minutes')::bigint, extract(epoch FROM now() - interval '70 minutes')::bigint)) i;
CALL jobstats_maintain();
SELECT count(*) AS summaries, (SELECT count(*) FROM jobstats.to_summarize) AS waiting FROM jobstats.job_summaries WHERE job = '21';
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss3', now() - interval '40 minutes', ost('scratch-OST0002', record('21:1000:n01', 160, 160 * 4096));
CALL jobstats_maintain();
SELECT count(*) AS summaries, (SELECT count(*) FROM jobstats.to_summarize) AS waiting FROM jobstats.job_summaries WHERE job = '21';

-- It stays when retention has taken the job, and is not made of the runs that are left.
UPDATE jobstats.settings SET jobs_retention = '1 minute';
DELETE FROM jobstats.jobs WHERE job = '14' AND started = at(0);
INSERT INTO jobstats.to_match VALUES ('14');
CALL jobstats_maintain();
CALL jobstats_maintain();
SELECT (SELECT count(*) FROM jobstats.jobs) AS jobs, (SELECT count(*) FROM jobstats.job_ids) AS job_ids, count(*) AS summaries,
    count(*) FILTER (WHERE runs = 2) AS requeued FROM jobstats.job_summaries;
SELECT DISTINCT step, problem FROM jobstats.maintenance WHERE step = 'summaries';
