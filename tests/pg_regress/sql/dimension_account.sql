-- The dimensions of jobs: account, partition, job_name and state; and of users: group_name and gid. Entries are joined with their jobs by
-- UTC days, and an entry without a user in its identifier has its job's user.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
SELECT jobstats_setup(retention => '100 years', compress_after => '100 years') IS NOT NULL AS ready;

-- From 8:00 to 8:20, from 23:50 to 0:20, and an end on the second day. Every number of opens is a power of two, so that a sum shows its
-- parts.
DO $$ BEGIN
    PERFORM observe('scratch-MDT0000', 'mds1', 0, 10, 20, 950, 960, 970, 980, 2400);
    PERFORM observe('scratch-OST0000', 'oss1', 0, 10, 20, 950, 960, 970, 980, 2400);
    PERFORM act('scratch-MDT0000', '101:1000:n01', 0, 10, '{"open": 1}');
    PERFORM act('scratch-MDT0000', '101:0:n01', 0, 10, '{"open": 2}');
    PERFORM act('scratch-MDT0000', '102:1001:n02', 0, 10, '{"open": 4}');
    PERFORM act('scratch-MDT0000', '103:1000:n03', 0, 10, '{"open": 8}');
    PERFORM act('scratch-MDT0000', '104:1999:n04', 0, 10, '{"open": 16}');
    PERFORM act('scratch-MDT0000', '105:1999:n05', 0, 10, '{"open": 32}');
    PERFORM act('scratch-MDT0000', 'damaged', 0, 10, '{"open": 64}');
    PERFORM act('scratch-MDT0000', '106:1003:n05', 0, 10, '{"open": 128}');
    PERFORM act('scratch-MDT0000', '107:1000:n01', 0, 10, '{"open": 256}');
    PERFORM act('scratch-MDT0000', '38:1001:n06', 0, 10, '{"open": 512}');
    PERFORM act('scratch-MDT0000', '103:1000:n03', 950, 960, '{"open": 1048576}');
    PERFORM act('scratch-MDT0000', '103:1000:n03', 960, 970, '{"open": 2097152}');
    PERFORM act('scratch-MDT0000', '102:1001:n02', 970, 980, '{"open": 4096}');
    PERFORM act('scratch-MDT0000', '103:1000:n03', 970, 980, '{"open": 8192}');
    PERFORM act('scratch-MDT0000', '104:1999:n04', 970, 980, '{"open": 16384}');
    PERFORM act('scratch-MDT0000', '107:1000:n01', 970, 980, '{"open": 262144}');
    PERFORM act('scratch-OST0000', '101:1000:n01', 0, 10, '{"write": 5, "write_bytes": 500}');
    PERFORM act('scratch-OST0000', '103:1000:n03', 950, 960, '{"write": 10, "write_bytes": 1000}');
    PERFORM act('scratch-OST0000', '103:1000:n03', 960, 970, '{"write": 20, "write_bytes": 80000}');
END $$;
-- The identifiers of 104 and 105 are bare numbers.
UPDATE jobstats.entries SET name = job, uid = NULL, node = NULL WHERE job IN ('104', '105');

INSERT INTO jobstats.users (uid, user_name, gid) VALUES (1000, 'ada', 100), (1001, 'bob', 200);
INSERT INTO jobstats.groups (gid, group_name) VALUES (100, 'physicists'), (200, 'chemists');
-- 103 is the number of a job of physics on the first day and of one of biology on the second; 107 ended on the first. 101 is the
-- first element of the array 55. The elements of 38 share its number.
INSERT INTO jobstats.job_ids (job_no, scheduler, job, label, runs, started, last_started, uid, user_name, gid, group_name, account,
    "partition", job_name, state) OVERRIDING SYSTEM VALUE
SELECT n, 's', job, label, 1, at(0), at(0), uid, user_name, gid, group_name, account, part, job_name, state
FROM (VALUES
    (1, '101', '55_1', 1000, 'ada', 100, 'physicists', 'phys', 'large', 'sim', 'COMPLETED'),
    (2, '102', '102', 1001, 'bob', 200, 'chemists', 'chem', 'small', 'fit', 'RUNNING'),
    (3, '103', '103', 1000, 'ada', 100, 'physicists', 'phys', 'small', 'sim', 'COMPLETED'),
    (4, '103', '103', 1000, 'ada', 100, 'physicists', 'bio', 'large', 'fold', 'RUNNING'),
    (5, '104', '104', 1002, 'carol', 500, 'astronomers', 'phys', 'large', 'sky', 'RUNNING'),
    (6, '105', '105', 1001, 'robert', 999, 'others', 'chem', 'small', 'fit', 'FAILED'),
    (7, '107', '107', 1000, 'ada', 100, 'physicists', 'bio', 'small', 'fold', 'FAILED'),
    (8, '38', NULL, 1001, 'bob', 200, 'chemists', 'grid', 'all.q', 'scan', 'COMPLETED')
) AS job (n, job, label, uid, user_name, gid, group_name, account, part, job_name, state);
INSERT INTO jobstats.jobs (scheduler, job, label, started, source, updated)
SELECT 's', job, label, at(0), 'slurm', at(0)
FROM (VALUES ('101', '55_1'), ('102', '102'), ('103', '103'), ('104', '104'), ('38', '38.1'), ('38', '38.2')) AS run (job, label);
INSERT INTO jobstats.entry_jobs (entry_id, valid_from, valid_to, job_no, status, alone)
SELECT e.entry_id, r.valid_from, r.valid_to, r.job_no, r.status, r.alone
FROM (VALUES
    ('101', timestamptz '2025-11-03', timestamptz '2025-11-04', 1, 'known', true),
    ('102', '2025-11-03', 'infinity', 2, 'known', true),
    ('103', '2025-11-03', '2025-11-04', 3, 'known', false),
    ('103', '2025-11-04', 'infinity', 4, 'known', false),
    ('104', '2025-11-03', 'infinity', 5, 'known', true),
    ('105', '2025-11-03', '2025-11-04', 6, 'known', true),
    ('107', '2025-11-03', '2025-11-04', 7, 'known', false),
    ('107', '2025-11-04', 'infinity', NULL, 'stale', false),
    ('38', '2025-11-03', '2025-11-04', 8, 'known', true)
) AS r (job, valid_from, valid_to, job_no, status, alone)
JOIN jobstats.entries e USING (job);

CREATE VIEW answers AS
-- phys: 1 + 2 (root's work in its prolog) + 8 + 1048576 + 16 + 16384; chem: 4 + 4096 + 32; bio: 256 + 2097152 + 8192; grid: 512;
-- no account: 64 + 128 + 262144.
SELECT 1 AS question, to_jsonb(r) AS answer FROM jobstats_totals(at(0), at(980), 'open', 'account') r
UNION ALL
SELECT 2, to_jsonb(r) FROM jobstats_totals(at(0), at(980), 'open', 'partition,job_name,state') r
UNION ALL
-- Root keeps its number; the users of 104 and 105 come from their jobs.
SELECT 3, to_jsonb(r) FROM jobstats_totals(at(0), at(980), 'open', 'uid,account') r
UNION ALL
-- Names and groups come from the store; from the scheduler where the store has none and the identifier names no user.
SELECT 4, to_jsonb(r) FROM jobstats_totals(at(0), at(20), 'open', 'job,user,group,gid') r
UNION ALL
-- The window begins in the middle of the first day, and of a row: half of the opens from 23:50 to 0:00.
SELECT 5, to_jsonb(r) FROM jobstats_totals(at(955), at(980), 'open', 'account', filter => 'kind=MDT') r
UNION ALL
SELECT 6, to_jsonb(r) FROM jobstats_totals('2025-11-03', '2025-11-04', 'open', 'account') r
UNION ALL
SELECT 7, to_jsonb(r) FROM jobstats_totals('2025-11-04', '2025-11-05', 'open', 'account') r
UNION ALL
SELECT 8, to_jsonb(r) FROM jobstats_totals('2025-11-03', '2025-11-05', 'open', 'account') r
UNION ALL
-- By the step: 1048576 in the last ten minutes of the first day, 2097152 in the first ten of the second.
SELECT 9, to_jsonb(r) FROM jobstats_rates(at(950), at(970), 'open', 'account', '10 minutes') r
UNION ALL
SELECT 10, to_jsonb(r) FROM jobstats_rates('2025-11-03', '2025-11-05', 'open', 'account', '1 day') r
UNION ALL
SELECT 11, to_jsonb(r) FROM jobstats_top(at(0), at(980), 'open', 'account', 2) r
UNION ALL
-- phys on n01 and n03, 104 names no node.
SELECT 12, to_jsonb(r) FROM jobstats_summary(at(0), at(980), 'account') r
UNION ALL
SELECT 13, to_jsonb(r) FROM jobstats_densities(at(0), at(980), 'open', 'account') r
UNION ALL
SELECT 14, to_jsonb(r) FROM jobstats_io_sizes(at(0), at(980), 'account') r
UNION ALL
SELECT 15, to_jsonb(r) FROM jobstats_totals(at(0), at(980), 'write_bytes', 'server,account') r
UNION ALL
-- What 103 did on the second day is not of phys.
SELECT 21, to_jsonb(r) FROM jobstats_totals(at(0), at(980), 'open', '', filter => 'account=phys') r
UNION ALL
SELECT 22, to_jsonb(r) FROM jobstats_totals('2025-11-04', '2025-11-05', 'open', 'job', filter => 'account=phys,c*') r
UNION ALL
-- Rows without an account are not left out.
SELECT 23, to_jsonb(r) FROM jobstats_totals(at(0), at(980), 'open', '', exclude => 'account=phys') r
UNION ALL
SELECT 24, to_jsonb(r) FROM jobstats_io_sizes(at(0), at(980), '', filter => 'account=phys') r
UNION ALL
SELECT 25, to_jsonb(r) FROM jobstats_io_sizes(at(0), at(980), '', exclude => 'account=phys') r
UNION ALL
SELECT 26, to_jsonb(r) FROM jobstats_totals(at(0), at(980), 'open', 'user', filter => 'account=phys user=c*,a*') r
UNION ALL
SELECT 27, to_jsonb(r) FROM jobstats_totals(at(0), at(980), 'open', 'job_name', filter => 'gid=100,500 state=RUN*') r
UNION ALL
SELECT 28, to_jsonb(r) FROM jobstats_totals(at(0), at(980), 'open', '', filter => 'group=chem* partition=small') r
UNION ALL
SELECT 29, to_jsonb(r) FROM jobstats_totals(at(0), at(980), 'open', 'job', filter => 'uid=1001') r;
SELECT question, string_agg(e.key || ' ' || e.value, ', ' ORDER BY e.key) AS answer
FROM answers a CROSS JOIN LATERAL jsonb_each_text(a.answer) e
WHERE e.key IN ('time', 'name', 'total', 'rate', 'opens', 'nodes', 'bucket', 'count', 'calls', 'mean') AND e.value IS NOT NULL
GROUP BY question, a.answer ORDER BY question, a.answer ->> 'time', a.answer;

-- Whatever the groups, they add up to the same.
CREATE VIEW sums AS
SELECT w.since, w.until, d.name, t.total AS all, g.total AS groups
FROM (VALUES (at(0), at(980)), (at(5), at(955)), (at(955), at(965)), (at(962), at(978)), ('2025-11-03', '2025-11-05'),
    ('2025-11-04', '2025-11-05'), ('2025-11-03 23:00', '2025-11-04 01:00')) AS w (since, until)
CROSS JOIN jobstats_internal.dimensions() d
CROSS JOIN LATERAL (SELECT sum(r.total) AS total FROM jobstats_totals(w.since, w.until, 'open', '') r) t
CROSS JOIN LATERAL (SELECT sum(r.total) AS total FROM jobstats_totals(w.since, w.until, 'open', d.name) r) g;
SELECT count(*), count(*) FILTER (WHERE s.all = s.groups) AS same FROM sums s;

-- Answers from rollups are the same, and are read from them. Maintenance would match the entries with jobs anew.
CREATE TABLE before AS TABLE answers;
CREATE VIEW changed AS (TABLE before EXCEPT ALL TABLE answers) UNION ALL (TABLE answers EXCEPT ALL TABLE before);
CREATE TABLE matched AS TABLE jobstats.entry_jobs;
CREATE TABLE known AS TABLE jobstats.job_ids;
CALL jobstats_maintain();
TRUNCATE jobstats.entry_jobs, jobstats.job_ids;
INSERT INTO jobstats.entry_jobs TABLE matched;
INSERT INTO jobstats.job_ids OVERRIDING SYSTEM VALUE TABLE known;
UPDATE jobstats.rollups SET users_refreshed = 'epoch';
CALL jobstats_maintain();
TABLE changed;
SELECT count(*), count(*) FILTER (WHERE s.all = s.groups) AS same FROM sums s;
BEGIN;
UPDATE jobstats.rollup_10m SET open = 0;
UPDATE jobstats.rollup_10m_users SET open = 0;
UPDATE jobstats.rollup_10m_accounts SET open = 0;
SELECT DISTINCT question FROM changed ORDER BY 1;
UPDATE jobstats.rollup_1d SET open = 0;
UPDATE jobstats.rollup_1d_users SET open = 0;
UPDATE jobstats.rollup_1d_accounts SET open = 0;
SELECT DISTINCT question FROM changed ORDER BY 1;
ROLLBACK;

-- A job is found by the name that its user types. All elements of an array count where they share its number.
SELECT name, total FROM jobstats_totals(at(0), at(980), 'open', 'job', filter => 'job=55_1,102');
SELECT name, total FROM jobstats_totals(at(0), at(980), 'open', 'account', filter => 'job=38.1');
SELECT total FROM jobstats_totals(at(0), at(980), 'open', '', filter => 'job=38');
SELECT total FROM jobstats_totals(at(0), at(980), 'open', '', filter => 'job=38*');
SELECT total FROM jobstats_totals(at(0), at(980), 'open', '', exclude => 'job=55_1');
SELECT count(*) FROM jobstats_io_sizes(at(0), at(980), filter => 'job=55*');
SELECT total FROM jobstats_totals(at(0), at(980), 'open', '', filter => 'job=55_7');
SELECT total FROM jobstats_totals(at(0), at(980), 'open', '', filter => jsonb_build_object('job', ARRAY(SELECT n || '_1' FROM generate_series(1, 150) AS n)));

SELECT name, operation, total FROM jobstats_job_usage('55_1') WHERE operation IN ('open', 'write_bytes');
SELECT name, operation, total FROM jobstats_job_usage('38.2') WHERE operation = 'open';

-- Who uses the targets. At 0:00 the first day ends.
SELECT name FROM jobstats_now('*MDT*', 20, at(10), 'workload,uid,user,account,job_name') ORDER BY rank;
SELECT name FROM jobstats_now('*MDT*', 20, at(960), 'workload,account,job_name');
SELECT name FROM jobstats_now('*MDT*', 20, at(970), 'workload,account,job_name');
SELECT target, leader, leader_share, labels -> 'uid' AS uid, labels ->> 'account' AS account FROM jobstats_balance(at(0), at(960), 'write_bytes');
SELECT target, leader, leader_share, labels -> 'uid' AS uid, labels ->> 'account' AS account FROM jobstats_balance(at(0), at(980), 'open');

-- What an entry did is the same, whether or not it is known which jobs it belongs to.
BEGIN;
DELETE FROM jobstats.entry_jobs;
SELECT name, total FROM jobstats_totals(at(0), at(980), 'open', 'account,job_name,uid');
ROLLBACK;
