-- Maintenance matches entries with the jobs of accounting, whichever comes first.
\i store.sql
\i accounting.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
DO $$ BEGIN PERFORM jobstats_setup(retention => '100 years', raw_retention => '100 years', compress_after => '100 years'); END $$;
UPDATE texts.clock SET zero = '2025-11-03 08:00+00';

CREATE VIEW matched AS
SELECT e.name AS entry, j.valid_from::date AS valid_from, j.valid_to::date AS valid_to, j.status, i.scheduler, i.job, i.label, i.user_name, i.account, j.alone
FROM jobstats.entry_jobs j JOIN jobstats.entries e USING (entry_id) LEFT JOIN jobstats.job_ids i USING (job_no);

-- Entries come first, and are in no queue while there is no accounting.
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', at(o.minute), ost('scratch-OST0000',
    (SELECT string_agg(record(id, o.minute::integer, o.minute::integer * 4096), '' ORDER BY id)
     FROM unnest(ARRAY['11:1000:n01', '11:0:n01', '12:1001:n02', '13:1000:n03', '14', '14:0:n05', '15:1000:n01', 'cp.1000']) AS id))
FROM (VALUES (0), (10), (20)) AS o (minute);
SELECT * FROM jobstats.to_match;

-- 13 belongs to another user; 14 is two jobs of two clusters, of different users; accounting lacks 15.
SELECT account(30, run('11', '11', 'alpha', 0, 20, 1000, 'physics') || run('12', '10_2', 'alpha', -60, NULL, 1001, 'bio')
    || run('13', '13', 'alpha', 0, 20, 1999, 'bio') || run('14', '14', 'alpha', 0, 20, 1000, 'physics')
    || run('14', '14', 'beta', 5, 25, 1001, 'bio'));
SELECT * FROM jobstats.to_match ORDER BY job;
CALL jobstats_maintain();
SELECT * FROM matched ORDER BY entry COLLATE "C";

-- The running job ends, and a run of another number becomes known late. Other matches stay.
SELECT account(1600, run('12', '10_2', 'alpha', -60, 1500, 1001, 'bio') || run('15', '15', 'alpha', 0, 20, 1000, 'physics'));
CALL jobstats_maintain();
SELECT * FROM matched WHERE job IN ('12', '15') ORDER BY entry COLLATE "C";

-- A shell that is left over on the next day: its job was over. Its new entry on another node is one of the day before, too.
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', at(o.minute), ost('scratch-OST0000',
    record('11:1000:n01', o.minute, o.minute * 4096) || record('11:1000:n04', o.minute, o.minute * 4096))
FROM (VALUES (1500), (1510), (1520)) AS o (minute);
SELECT * FROM jobstats.to_match;
CALL jobstats_maintain();
SELECT DISTINCT step, problem FROM jobstats.maintenance WHERE step = 'match';
SELECT * FROM matched WHERE entry LIKE '11:1000:%' ORDER BY entry COLLATE "C", valid_from;
SELECT matched = (SELECT refreshed FROM jobstats.rollups WHERE level = '10m') AS matched FROM jobstats.refresh;

-- The nodes of a cluster resolve ambiguous entries, once all are matched again.
INSERT INTO jobstats.nodes (pattern, scheduler) VALUES ('n*', 'alpha');
SELECT jobstats_reidentify();
CALL jobstats_maintain();
SELECT * FROM matched WHERE entry LIKE '14%' ORDER BY entry COLLATE "C";


-- Very many runs of a number take no jobs from other numbers.
SELECT account(1700, string_agg(run('15', '15_' || n, 'beta', 1600, 1610, 1999, 'bio'), '')) FROM generate_series(1, 12000) AS n;
INSERT INTO jobstats.to_match VALUES ('11'), ('12'), ('14');
CALL jobstats_maintain();
SELECT job, scheduler, runs, account FROM jobstats.job_ids ORDER BY job, scheduler;

-- A user who exports the number of another user's job has no job once accounting has its owner; root works for the job.
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', at(o.minute), ost('scratch-OST0000', (SELECT string_agg(record(id, o.minute - 2000, 4096 * (o.minute - 2000)), '' ORDER BY id)
    FROM unnest(ARRAY['4711:1000:n01', '4711:0:n01', '4711:2000:n05', '4712:2000:n05']) AS id))
FROM (VALUES (2000), (2010), (2020)) AS o (minute);
CREATE VIEW claims AS
SELECT job, workload, uid, status, total FROM (SELECT * FROM jobstats_totals(at(2000), at(2020), 'write', 'job,workload,uid,status', filter => 'node=n01,n05') r, dims(r.labels)) AS jobstats_totals;
SELECT * FROM claims ORDER BY uid, job;
SELECT account(2030, run('4711', '4711', 'alpha', 1990, 2025, 1000, 'physics'));
CALL jobstats_maintain();
SELECT * FROM claims ORDER BY uid, job;
SELECT name, job, claimed, status, workload FROM jobstats.entries WHERE name LIKE '471%' ORDER BY name COLLATE "C";
SELECT operation, target, total, nodes FROM (SELECT * FROM jobstats_job_usage(4711) r, dims(r.labels)) AS jobstats_job_usage WHERE operation IN ('write', 'claimed_write');
SELECT day, calls, status, remedy FROM jobstats.job_quality WHERE status = 'claimed' ORDER BY day;
-- It stays so when all identifiers are read again.
SELECT jobstats_reidentify();
CALL jobstats_maintain();
SELECT name, job, claimed, status FROM jobstats.entries WHERE claimed IS NOT NULL ORDER BY name COLLATE "C";
-- Accounting that comes later names a job of this user.
SELECT account(2040, run('4711', '4711', 'alpha', 2001, 2025, 2000, 'bio'));
CALL jobstats_maintain();
SELECT name, job, claimed, status, workload FROM jobstats.entries WHERE name LIKE '471%' ORDER BY name COLLATE "C";

-- Nor does who exports the label of another user's element of an array take its name.
SELECT account(2050, run('4715', '4713_2', 'alpha', 1990, 2045, 1000, 'physics'));
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', at(o.minute), ost('scratch-OST0000', record('4713_2:2000:n05', o.minute - 2030, 4096 * (o.minute - 2030)), record('4715:1000:n01', 3 * (o.minute - 2030), 4096 * 3 * (o.minute - 2030)))
FROM (VALUES (2030), (2040)) AS o (minute);
CALL jobstats_maintain();
SELECT operation, total, nodes FROM (SELECT * FROM jobstats_job_usage('4713_2', since => at(2000), until => at(2050)) r, dims(r.labels)) AS jobstats_job_usage WHERE operation = 'write' AND target IS NULL;

-- Flux prints the number of a job as ƒ3oKANUf, and without that letter as f3oKANUf: accounting decides whether a word is a number.
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', at(o.minute), ost('scratch-OST0000', (SELECT string_agg(record(id, o.minute - 3000, 4096 * (o.minute - 3000)), '' ORDER BY id)
    FROM unnest(ARRAY['f3oKANUf:1000:x01', 'final:1000:x01']) AS id))
FROM (VALUES (3000), (3010), (3020)) AS o (minute);
SELECT i.action FROM jobstats_ingest('flux', 'flux1', at(3030), source => 'flux', body => format('{"jobs":[{"id":106535321600,"userid":1000,"username":"user1000",'
    '"state":"INACTIVE","t_submit":%s,"t_run":%s,"t_cleanup":%s}]}', VARIADIC ARRAY(SELECT extract(epoch FROM at(m)) FROM unnest(ARRAY[2989, 2990, 3025]) AS m))) i;
CALL jobstats_maintain();
SELECT name, job, workload FROM jobstats.entries WHERE name LIKE 'f%' ORDER BY name COLLATE "C";
SELECT * FROM matched WHERE entry LIKE 'f%' ORDER BY entry COLLATE "C";
SELECT operation, target, total FROM (SELECT * FROM jobstats_job_usage('f3oKANUf') r, dims(r.labels)) AS jobstats_job_usage WHERE operation = 'write';
-- The other way round: a new node of a job that accounting knows.
INSERT INTO jobstats.feed (server, "time", body) SELECT 'oss1', at(3024), ost('scratch-OST0000', record('f3oKANUf:1000:x02', 1, 4096));
CALL jobstats_maintain();
SELECT name, job, workload FROM jobstats.entries WHERE name LIKE 'f%' ORDER BY name COLLATE "C";

-- Jobs that retention takes leave no match behind.
UPDATE jobstats.settings SET jobs_retention = '1 minute';
CALL jobstats_maintain();
CALL jobstats_maintain();
SELECT (SELECT count(*) FROM jobstats.jobs) AS jobs, (SELECT count(*) FROM jobstats.job_ids) AS job_ids, (SELECT count(*) FROM jobstats.entry_jobs) AS entry_jobs,
    (SELECT count(*) FROM jobstats.to_match) AS to_match;
