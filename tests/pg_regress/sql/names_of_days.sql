-- Each day is shown under the names that users had at its start, in UTC; windows that end before a change have the earlier name.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
SELECT jobstats_setup(retention => '100 years', compress_after => '100 years') IS NOT NULL AS ready;

-- From 8:00 on Monday to 0:00 on Thursday. Every number of opens is a power of two, so that a sum shows its parts.
DO $$ BEGIN
    PERFORM observe('scratch-MDT0000', 'mds1', 0, 480, 950, 960, 970, 1440, 2390, 2400, 2410, 3000, 3840);
    PERFORM act('scratch-MDT0000', '1:1000:n01', 480, 490, '{"open": 1}');
    PERFORM act('scratch-MDT0000', '1:1000:n01', 950, 960, '{"open": 2}');
    PERFORM act('scratch-MDT0000', '1:1000:n01', 960, 970, '{"open": 4}');
    PERFORM act('scratch-MDT0000', '1:1000:n01', 2380, 2390, '{"open": 8}');
    PERFORM act('scratch-MDT0000', '1:1000:n01', 2400, 2410, '{"open": 16}');
    PERFORM act('scratch-MDT0000', '2:1000:n01', 2990, 3000, '{"open": 32}');
    PERFORM act('scratch-MDT0000', '3:1001:n02', 950, 960, '{"open": 64}');
    PERFORM act('scratch-MDT0000', '3:1001:n02', 960, 970, '{"open": 128}');
END $$;
-- 1000 is Ada on Monday, the countess on Tuesday, and from Wednesday on it is Bob with another group. 1001 is Bo, whose group was
-- another one until Tuesday.
CREATE FUNCTION fed(day date, body text, source text = 'passwd') RETURNS text LANGUAGE sql AS $$
SELECT action FROM jobstats_ingest('', 'login1', day + interval '12 hours', body, source => source)
$$;
SELECT fed('2025-11-05', E'bob:x:1000:200::/h:/s\nbo:x:1001:100::/h:/s\n'), fed('2025-11-03', E'ada:x:1000:100::/h:/s\nbo:x:1001:200::/h:/s\n'),
    fed('2025-11-04', E'countess:x:1000:100::/h:/s\nbo:x:1001:100::/h:/s\n'),
    fed('2025-11-04', E'people:x:100:\nstaff:x:200:\n', 'group'), fed('2025-11-05', E'users:x:100:\nstaff:x:200:\n', 'group');

CREATE FUNCTION all_days(by text) RETURNS TABLE (name text, opens numeric, labels jsonb) LANGUAGE sql AS $$
SELECT name, total, labels FROM jobstats_totals('2025-11-03 08:00', '2025-11-06', 'open', by) ORDER BY total
$$;
SELECT * FROM all_days('user');
SELECT * FROM all_days('uid,user,gid,group');
SELECT * FROM all_days('gid');
SELECT * FROM all_days('uid');
SELECT name, total FROM jobstats_totals('2025-11-03 08:00', '2025-11-06', 'open', 'job,user') ORDER BY 1, 2;
-- Day by day, and windows that end before a change, or begin after it, or in the middle of a day.
SELECT date("time"), name, total
FROM jobstats_rates('2025-11-03', '2025-11-06', 'open', 'user', '1 day', filter => 'user=ada,bo,bob,countess') ORDER BY 1, 2;
SELECT name, total FROM jobstats_totals('2025-11-03 08:00', '2025-11-04', 'open', 'user,group') ORDER BY 2;
SELECT name, total FROM jobstats_totals('2025-11-04', '2025-11-05', 'open', 'user,group') ORDER BY 2;
SELECT name, total FROM jobstats_totals('2025-11-05', '2025-11-06', 'open', 'user,group') ORDER BY 2;
SELECT name, total FROM jobstats_totals('2025-11-03 23:55', '2025-11-05 00:05', 'open', 'user') ORDER BY 2;
-- Filters select the days of a name.
SELECT name, total FROM jobstats_totals('2025-11-03 08:00', '2025-11-06', 'open', 'uid', filter => 'user=countess');
SELECT total FROM jobstats_totals('2025-11-03 08:00', '2025-11-06', 'open', '', filter => 'user=countess');
SELECT name, total FROM jobstats_totals('2025-11-03 08:00', '2025-11-06', 'open', 'job', filter => 'user=ada,bob') ORDER BY 1;
SELECT name, total FROM jobstats_totals('2025-11-03 08:00', '2025-11-06', 'open', 'user', exclude => '{"user": ["ada", "bob"]}') ORDER BY 2;
SELECT total FROM jobstats_totals('2025-11-03 08:00', '2025-11-06', 'open', '', filter => 'gid=200');
SELECT rank, name, total FROM jobstats_top('2025-11-03 08:00', '2025-11-06', 'open', 'user');
SELECT name, opens, nodes FROM jobstats_summary('2025-11-03 08:00', '2025-11-06', 'user') ORDER BY opens;
SELECT sum(count) FROM jobstats_densities('2025-11-03 08:00', '2025-11-06', 'open', 'user');
SELECT * FROM jobstats_totals('2025-11-03 08:00', '2025-11-04', 'open', '', filter => 'user=bob');
-- Who was at work at a moment had the name of that day.
SELECT at, name
FROM unnest('{2025-11-04 00:00, 2025-11-04 00:10, 2025-11-05 00:10}'::timestamptz[]) at, jobstats_now(n => 10, at => at, by => 'workload,user')
ORDER BY at, name;

-- Rollups agree: by user, and where a window begins or ends inside a bucket.
CREATE VIEW answers AS
SELECT 'days' AS question, to_jsonb(a) AS answer FROM all_days('uid,user,gid,group') a
UNION ALL
SELECT 'steps', to_jsonb(r) FROM jobstats_rates('2025-11-03', '2025-11-06', 'open', 'user', '1 day') r
UNION ALL
SELECT 'hours', to_jsonb(r) FROM jobstats_rates('2025-11-03', '2025-11-06', 'open', 'user', '2 hours') r
UNION ALL
SELECT 'edges', to_jsonb(t) FROM jobstats_totals('2025-11-03 16:05', '2025-11-05 00:05', 'open', 'user') t
UNION ALL
SELECT 'filter', to_jsonb(t) FROM jobstats_totals('2025-11-03 08:00', '2025-11-06', 'open', '', filter => 'user=countess') t
UNION ALL
SELECT 'job', to_jsonb(t) FROM jobstats_totals('2025-11-03 08:00', '2025-11-06', 'open', 'job', filter => 'user=ada,bob') t
UNION ALL
SELECT 'summary', to_jsonb(s) FROM jobstats_summary('2025-11-03 08:00', '2025-11-06', 'user') s;
CREATE TABLE before AS TABLE answers;
CALL jobstats_maintain();
SELECT question, count(*) FROM before GROUP BY 1 ORDER BY 1;
SELECT * FROM ((TABLE before EXCEPT ALL TABLE answers) UNION ALL (TABLE answers EXCEPT ALL TABLE before)) changed;
BEGIN;
-- It is the rollups by user that are read.
UPDATE jobstats.rollup_1d SET open = 0;
UPDATE jobstats.rollup_1h SET open = 0;
UPDATE jobstats.rollup_10m SET open = 0;
SELECT name, total FROM jobstats_totals('2025-11-03', '2025-11-06', 'open', 'user') ORDER BY 2;
ROLLBACK;

-- An entry whose identifier names no user has the names of its job's user.
UPDATE jobstats.entries SET uid = NULL WHERE job = '1';
INSERT INTO jobstats.job_ids (job_no, scheduler, job, label, runs, started, last_started, uid, user_name) OVERRIDING SYSTEM VALUE
VALUES (1, 's', '1', '1', 1, '2025-11-03', '2025-11-03', 1000, 'job');
INSERT INTO jobstats.entry_jobs (entry_id, valid_from, valid_to, job_no, status, alone)
SELECT e.entry_id, '2025-11-03', 'infinity', 1, 'known', true FROM jobstats.entries e WHERE e.job = '1';
SELECT name, total FROM jobstats_totals('2025-11-03 08:00', '2025-11-06', 'open', 'job,user') ORDER BY 1, 2;

-- Sizes of reads and writes, too.
DO $$ BEGIN
    PERFORM observe('scratch-OST0000', 'oss1', 940, 950, 960, 970);
    PERFORM act('scratch-OST0000', '1:1000:n01', 950, 960, '{"write": 2, "write_bytes": 2000}');
    PERFORM act('scratch-OST0000', '1:1000:n01', 960, 970, '{"write": 3, "write_bytes": 9000}');
    PERFORM act('scratch-OST0000', '3:1001:n02', 960, 970, '{"write": 1, "write_bytes": 500}');
END $$;
SELECT name, calls, mean FROM jobstats_io_sizes('2025-11-03 23:40', '2025-11-04 00:10', by => 'user,gid') ORDER BY 1;
SELECT calls, mean FROM jobstats_io_sizes('2025-11-03 23:40', '2025-11-04 00:10', by => '', filter => 'user=ada,bo');
