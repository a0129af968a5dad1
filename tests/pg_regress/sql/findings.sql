-- jobstats_findings() and jobstats_verdict(): what jobs could do better.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'

-- One MDT, and six OSTs of one file system. A job of each number reads 4 GiB in large pieces, and makes servers work for 100 seconds in
-- all; 60 of these are what the rule of its number is about.
DO $$
DECLARE
    large jsonb := '{"read": 1000, "read_bytes": 4294967296, "read_usecs": 40000000}';
BEGIN
    PERFORM observe(target, 'server', 0, 20) FROM unnest(ARRAY['scratch-MDT0000'] || ARRAY(SELECT 'scratch-OST000' || n FROM generate_series(0, 5) AS n)) AS target;
    PERFORM act('scratch-OST0000', job || ':1000:n01', 0, 20, large) FROM unnest(ARRAY[3, 4, 5, 6, 7, 10, 11]) AS job;
    -- 1 and 2: the sizes of two thousand reads are known, three quarters of them are of 4 KiB; of writes only the mean, 40 KiB.
    PERFORM act('scratch-OST0001', '1:1000:n01', 0, 20, jsonb_build_object('read', 2000, 'read_bytes', 1500 * 4096 + 500 * 1048576,
        'read_usecs', 100000000, 'read_bytes_hist', array_fill(0, ARRAY[12]) || 1500 || array_fill(0, ARRAY[7]) || 500 || array_fill(0, ARRAY[7])));
    PERFORM act('scratch-OST0002', '2:1000:n01', 0, 20, '{"write": 2000, "write_bytes": 81920000, "write_usecs": 100000000}');
    -- 3: each write is a file. 4 to 6: opens, attributes and syncs.
    PERFORM act('scratch-OST0003', '3:1000:n01', 0, 20, '{"write": 2000, "write_bytes": 8192000, "write_usecs": 50000000}');
    PERFORM act('scratch-MDT0000', '3:1000:n01', 0, 20, '{"open": 2000, "open_usecs": 1000000, "mknod": 2000, "mknod_usecs": 9000000}');
    PERFORM act('scratch-MDT0000', '4:1000:n01', 0, 20, '{"open": 81920, "open_usecs": 30000000}');
    PERFORM act('scratch-MDT0000', '5:1001:n02', 0, 20, '{"open": 100, "open_usecs": 1, "getattr": 5000, "getattr_usecs": 30000000}');
    PERFORM act('scratch-OST0003', '6:1001:n02', 0, 20, '{"write": 1000, "write_bytes": 4294967296, "write_usecs": 1, "sync": 200, "sync_usecs": 60000000}');
    -- 7: files that are removed again. 8: 200 GB on one OST of six. 9: names, and no data.
    PERFORM act('scratch-MDT0000', '7:1001:n02', 0, 20, '{"mknod": 2000, "mknod_usecs": 5000000, "unlink": 1900, "unlink_usecs": 35000000}');
    PERFORM act('scratch-OST0004', '8:1001:n02', 0, 20, '{"write": 50000, "write_bytes": 200000000000, "write_usecs": 98000000}');
    PERFORM act('scratch-OST0005', '8:1001:n02', 0, 20, '{"write": 500, "write_bytes": 2000000000, "write_usecs": 2000000}');
    PERFORM act('scratch-MDT0000', '9:1002:n03', 0, 20, '{"setattr": 90000, "setattr_usecs": 90000000}');
    -- 10 is exemplary, 11 wrote little, 12 did too little to be judged, and so did a daemon.
    PERFORM act('scratch-OST0001', '10:1002:n03', 0, 20, '{"read": 1000, "read_bytes": 4294967296, "read_usecs": 40000000}');
    PERFORM act('scratch-OST0001', '11:1002:n03', 0, 20, '{"write": 100, "write_bytes": 409600, "write_usecs": 1000000, "read": 1000, "read_bytes": 4294967296, "read_usecs": 40000000}');
    PERFORM act('scratch-OST0002', '12:1002:n03', 0, 5, '{"write": 2000, "write_bytes": 8192000, "write_usecs": 90000000}');
    PERFORM act('scratch-MDT0000', 'rsync.1001', 0, 20, '{"getattr": 70, "getattr_usecs": 500000}');
END $$;
CREATE FUNCTION found("by" text DEFAULT 'job', levels text DEFAULT NULL, filter jobstats_filter DEFAULT NULL)
RETURNS TABLE (name text, finding text, level text, threshold double precision, text text, "time" double precision, share double precision)
LANGUAGE sql AS $$
SELECT f.name, f.finding, f.level, f.threshold, f.text, f.service_time, f.share FROM jobstats_findings(at(0), at(20), found.by, found.levels, found.filter) f
$$;

-- Each job has its finding. Without knowledge of other jobs there is none.
SELECT * FROM found();
SELECT * FROM jobstats_verdict(at(0), at(20));
-- Typical values at a site are no finding.
UPDATE jobstats.finding_rules SET fair_of_site = 0, bad_of_site = 0.7 WHERE finding = 'small_reads';
UPDATE jobstats.finding_rules SET fair_of_site = 0, bad_of_site = 0.3, bad = 0.3 WHERE finding = 'small_writes';
UPDATE jobstats.finding_rules SET fair_of_site = 60, bad_of_site = 70 WHERE finding = 'getattrs';
SELECT * FROM found(filter => 'job=1,2,5');
SELECT * FROM jobstats_verdict(at(0), at(20));
SELECT * FROM found(levels => 'good', filter => 'job=5');
-- Above an absolute level, they are.
BEGIN;
UPDATE jobstats.finding_rules SET bad_of_site = 1, absolute = 0.74 WHERE finding = 'small_reads';
UPDATE jobstats.finding_rules SET bad_of_site = 1, absolute = 0.37 WHERE finding = 'small_writes';
SELECT name, finding, level, threshold FROM found(filter => 'job=1,2');
ROLLBACK;
-- The probe of jobstats syncs on purpose.
DO $$
BEGIN
    PERFORM observe('scratch-OST0003', 'server', 40, 60);
    PERFORM act('scratch-OST0003', 'jobstats-probe.997', 40, 60, '{"write": 500, "write_bytes": 524288000, "write_usecs": 1, "sync": 1000, "sync_usecs": 70000000}');
END $$;
SELECT name, finding, advice FROM jobstats_findings(at(40), at(60), 'executable') WHERE finding = 'syncs';
-- A rule that the site disabled or edited; setup keeps both, and restores a missing one.
UPDATE jobstats.finding_rules SET enabled = false WHERE finding = 'syncs';
UPDATE jobstats.finding_rules SET fair = 0.76, bad = 0.9 WHERE finding = 'small_reads';
DELETE FROM jobstats.finding_rules WHERE finding = 'opens';
SELECT count(*) FROM found(filter => 'job=1,4,6');
SELECT jobstats_setup() IS NOT NULL AS set_up;
SELECT name, finding, level FROM found(filter => 'job=1,4,6');
UPDATE jobstats.finding_rules SET fair = 1, bad = 0.5 WHERE finding = 'syncs';

-- By user; on one target there is no spreading.
SELECT name, finding, text FROM found('uid');
SELECT finding, text FROM found('target', filter => 'target=*OST0004');
SELECT finding, text FROM found('', filter => 'job=8 target=*OST0004');
-- Nor do other rules over different kinds of targets apply to one kind, one server or some targets: job 4 read 4 GiB.
SELECT kind, f.name, f.finding, f.text FROM unnest('{MDT,OST}'::text[]) kind, found(filter => 'kind=' || kind) f;
SELECT count(*) FROM jobstats_findings(at(0), at(20), filter => 'server=server job=3,4,6,8,9');
SELECT count(*) FROM jobstats_findings(at(0), at(20), exclude => '{"target": ["*OST0005"]}', filter => 'job=3,4,6,8,9');
SELECT * FROM jobstats_findings(at(0), at(20), levels => 'worse');
-- A job has the same values in any window: of more than a day, the sizes of the jobs that matter most are read.
SELECT name, finding, round(value::numeric, 2) AS value, text
FROM jobstats_findings(at(0) - interval '30 hours', at(20), levels => 'bad,fair,good') WHERE name = '1' AND finding = 'small_reads'
UNION ALL
SELECT name, finding, round(value::numeric, 2), text
FROM jobstats_findings(at(0) - interval '30 hours', at(20), levels => 'bad,fair,good', filter => 'job=1') WHERE finding = 'small_reads';
SELECT count(*) FROM jobstats_findings(at(60), at(80));
SELECT count(*) FROM jobstats_verdict(at(60), at(80));
-- A job that removes more than twice the files that it created cleans up; its other requests are part of that.
-- A part of a divided row may have sizes whose calls count in another part.
DO $$
BEGIN
    PERFORM observe(target, 'server', 100, 120) FROM unnest(ARRAY['scratch-MDT0000', 'scratch-OST0003']) AS target;
    PERFORM act('scratch-MDT0000', job || ':1001:n02', 100, 120, jsonb_build_object('mknod', 2000, 'mknod_usecs', 10000000, 'unlink', removed, 'unlink_usecs', 60000000))
    FROM (VALUES (21, 4000), (22, 4001)) AS v (job, removed);
    PERFORM act('scratch-MDT0000', '24:1001:n02', 100, 120, '{"unlink": 1200000, "unlink_usecs": 90000000, "getattr": 1200000, "getattr_usecs": 60000000, "open": 9000, "open_usecs": 20000000}');
    PERFORM act('scratch-OST0003', '23:1001:n02', 100, 110, jsonb_build_object('write', 4000, 'write_bytes', 4000000000, 'write_usecs', 100000000,
        'write_bytes_hist', array_fill(0, ARRAY[20]) || 2000 || array_fill(0, ARRAY[7])));
    PERFORM act('scratch-OST0003', '23:1001:n02', 110, 120, jsonb_build_object('write_bytes', 8192000, 'write_bytes_hist', array_fill(0, ARRAY[12]) || 2000 || array_fill(0, ARRAY[15])));
END $$;
SELECT name, finding, level, value, text FROM jobstats_findings(at(100), at(120)) WHERE finding IN ('short_lived_files', 'small_writes') OR name = '24';

-- Maintenance computes the baseline: two days ago, 199 jobs wrote in pieces of 31.9 to 63.8 KiB, and one program. Another job's write sizes
-- are known in two hours: a quarter is 4 KiB.
DELETE FROM jobstats.finding_rules;
DO $$
DECLARE
    noon timestamptz := date_trunc('day', now(), 'UTC') - interval '36 hours';
    sizes bigint[] := array_fill(0, ARRAY[12]) || 500::bigint || array_fill(0, ARRAY[7]) || 1500::bigint || array_fill(0, ARRAY[11]);
BEGIN
    PERFORM jobstats_setup();
    PERFORM observe('', 'scratch-OST0000', 'oss1', ARRAY[noon, noon + interval '10 minutes', noon + interval '2 hours']);
    PERFORM act('', 'scratch-OST0000', format('%s:1000:n01', 1000 + n), noon, noon + interval '10 minutes', jsonb_build_object(
        'write', 2000, 'write_bytes', 2000 * (65536 - n * 164), 'write_usecs', 60000000)) FROM generate_series(1, 199) AS n;
    PERFORM act('', 'scratch-OST0000', 'rsync.1001', noon, noon + interval '10 minutes', '{"write": 2000, "write_bytes": 2000, "write_usecs": 60000000}');
    PERFORM act('', 'scratch-OST0000', '2000:1000:n01', noon, part, jsonb_build_object('write', 2000, 'write_bytes', 2000 * 65536,
        'write_usecs', 60000000, 'write_bytes_hist', sizes)) FROM unnest(ARRAY[noon + interval '10 minutes', noon + interval '2 hours']) AS part;
    -- A part of a divided row may have sizes of calls that count in another part: here as many small ones again.
    PERFORM act('', 'scratch-OST0000', '2001:1000:n01', noon, noon + interval '10 minutes', jsonb_build_object('write', 2000, 'write_bytes', 2000 * 65536,
        'write_usecs', 60000000, 'write_bytes_hist', array_fill(0, ARRAY[20]) || 1500 || array_fill(0, ARRAY[11])));
    PERFORM act('', 'scratch-OST0000', '2001:1000:n01', noon + interval '10 minutes', noon + interval '20 minutes', jsonb_build_object('write_bytes', 4096,
        'write_bytes_hist', array_fill(0, ARRAY[12]) || 500 || array_fill(0, ARRAY[19])));
END $$;
-- A call judges for as long as it may, and the next one goes on.
CALL jobstats_maintain();
DO $$ BEGIN WHILE jobstats_internal.judge_some() IS NOT NULL LOOP END LOOP; END $$;
SELECT finding, jobs, fair, round(fair_of_site::numeric, 4) AS fair_of_site, round(bad_of_site::numeric, 4) AS bad_of_site FROM jobstats.finding_rules WHERE jobs > 0 ORDER BY finding;
SELECT count(*) AS rules, count(DISTINCT day) AS days FROM jobstats.finding_days;
SELECT finding, jobs FROM jobstats.finding_days, LATERAL (SELECT count(*) AS jobs FROM unnest("values") v WHERE v = 0.25) known WHERE jobs > 0;
-- A day is judged once, also if that fails.
SELECT jobstats_internal.judge_some();
DELETE FROM jobstats.finding_days;
ALTER TABLE jobstats.finding_sizes ADD CHECK (job <> '1001');
INSERT INTO jobstats.maintenance (step, began) VALUES ('findings', now());
DO $$ BEGIN WHILE jobstats_internal.judge() IS NOT NULL LOOP END LOOP; END $$;
SELECT took >= '0' AS ended, problem FROM jobstats.maintenance WHERE step = 'findings' ORDER BY began DESC LIMIT 1;
SELECT jobstats_internal.judge_some();
