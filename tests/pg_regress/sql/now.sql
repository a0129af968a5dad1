-- jobstats_now(): who keeps each target busy, as of its last observation.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'

-- One transaction, so that now() does not move. "ago" is a time that many seconds before it.
BEGIN;
CREATE FUNCTION world.ago(seconds numeric) RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT now() - seconds * interval '1 second' $$;
DO $$ BEGIN
    PERFORM observe('', 'scratch-MDT0000', 'mds1', ARRAY[ago(420), ago(300), ago(180), ago(60)]);
    PERFORM observe('', 'scratch-OST0000', 'oss1', ARRAY[ago(290), ago(170), ago(50)]);
    PERFORM observe('', 'scratch-OST0001', 'oss2', ARRAY[ago(290), ago(170), ago(50)]);
    PERFORM act('', 'scratch-MDT0000', '101:1000:n01', ago(300), ago(180), '{"open": 99999, "open_usecs": 99999999}');
    PERFORM act('', 'scratch-MDT0000', '101:1000:n01', ago(180), ago(60), '{"open": 1200, "open_usecs": 60000000, "close": 2400, "close_usecs": 12000000}');
    PERFORM act('', 'scratch-MDT0000', '101:1000:n02', ago(180), ago(60), '{"open": 1200, "open_usecs": 60000000}');
    PERFORM act('', 'scratch-MDT0000', 'rsync.1001', ago(180), ago(60), '{"getattr": 60000, "getattr_usecs": 12000000}');
    PERFORM act('', 'scratch-MDT0000', 'mv.1001', ago(180), ago(60), '{"rename": 12, "rename_usecs": 120000, "samedir_rename": 12, "samedir_rename_usecs": 120000}');
    -- As before Lustre 2.14: no times.
    PERFORM act('', 'scratch-OST0000', '101:1000:n01', ago(170), ago(50), '{"write_bytes": 4096, "write": 120}');
    PERFORM act('', 'scratch-OST0000', 'cp.1002', ago(170), ago(50), '{"read_bytes": 4096, "read": 30, "write_bytes": 10, "write": 30, "punch": 60}');
END $$;
INSERT INTO jobstats.users VALUES (1000, 'ada'), (1001, 'bob');

-- By service time, or by calls where that is unknown. The operation is the largest one.
SELECT target, age, labels FROM jobstats_now(n => 10) WHERE rank = 1;
SELECT target, rank, name, operation, formatted, rate, service_time, round(share::numeric, 3) AS share FROM jobstats_now(n => 10);
SELECT target, rank, name FROM jobstats_now('*OST*', 1);
SELECT count(*) FROM jobstats_now(n => 0);
SELECT count(*) FROM jobstats_now(NULL, NULL);
SELECT count(*) FROM jobstats_now('none', 10);

-- At an earlier time: the same as then. OST0000 had been observed once, so it has no row. The age counts from then.
SELECT target, rank, name, operation, rate, service_time, share, age, ago(170.000001) - age = ago(180) AS same
FROM jobstats_now(n => 10, at => ago(170.000001));
SELECT target, age FROM jobstats_now(n => 10, at => ago(40)) WHERE rank = 1;
SELECT count(*) FROM jobstats_now(n => 10, at => ago(290));
SELECT count(*) FROM jobstats_now(n => 10, at => ago(100000));
-- Now as the time is the default.
SELECT count(*) FROM (SELECT * FROM jobstats_now(n => 10) EXCEPT SELECT * FROM jobstats_now(n => 10, at => now())) changed;

-- A row that begins before the last observation does, because its entry was skipped by Lustre in the one before: the part
-- that lies in it. Rows that were divided at ten minutes count together.
DO $$ BEGIN
    PERFORM act('', 'scratch-OST0001', '102:1002:n01', ago(290), ago(50), '{"read": 100, "read_usecs": 2400000}');
    PERFORM act('', 'scratch-OST0001', '103:1002:n01', ago(170), ago(100), '{"read": 70, "read_usecs": 600000}');
    PERFORM act('', 'scratch-OST0001', '103:1002:n01', ago(100), ago(50), '{"read": 50, "read_usecs": 600000}');
END $$;
UPDATE jobstats.increments i SET observed = ago(50) FROM jobstats.targets t
WHERE t.target_id = i.target_id AND t.name = 'scratch-OST0001';
SELECT target, rank, name, rate, service_time, share FROM jobstats_now('*OST0001', 10, by => 'workload');

-- A target that has not been observed for a day, or only once, has no now.
DO $$ BEGIN
    PERFORM observe('', 'scratch-OST0002', 'oss1', ARRAY[ago(90000), ago(86500)]);
    PERFORM act('', 'scratch-OST0002', 'cp.1002', ago(90000), ago(86500), '{"read": 30}');
    PERFORM observe('', 'scratch-OST0003', 'oss1', ARRAY[ago(10)]);
END $$;
SELECT DISTINCT target FROM jobstats_now(n => 10) ORDER BY target;

-- A target that was last observed hours ago, or after a gap of hours, has a row: for a gap, its last hour.
DO $$ BEGIN
    PERFORM observe('', 'scratch-OST0004', 'oss1', ARRAY[ago(20000), ago(19000)]);
    PERFORM act('', 'scratch-OST0004', '104:1004:n01', ago(20000), ago(19000), '{"read": 3000}');
    PERFORM observe('', 'scratch-OST0005', 'oss1', ARRAY[ago(10000), ago(20)]);
    PERFORM act('', 'scratch-OST0005', '104:1004:n01', ago(9000), ago(7000), '{"read": 499}');
    PERFORM act('', 'scratch-OST0005', '104:1004:n01', ago(100), ago(20), '{"read": 360}');
END $$;
SELECT target, name, rate, share FROM jobstats_now('*OST000*', 10, by => 'workload') WHERE name = '104';

-- For these no other days are read, whatever way to join the planner prefers.
DO $$ BEGIN
    PERFORM jobstats_internal.add_partitions('increments', 'day', ago(864000), ago(864000));
    PERFORM observe('', 'scratch-OST0006', 'oss1', ARRAY[ago(864100), ago(864000)]);
    PERFORM act('', 'scratch-OST0006', '105:1004:n01', ago(864100), ago(864000), '{"read": 1}');
END $$;
CREATE TABLE world.other_day AS SELECT DISTINCT i.tableoid AS relid FROM jobstats.increments i WHERE i."time" < world.ago(800000);
CREATE VIEW world.other_days AS
SELECT sum(s.seq_scan + coalesce(s.idx_scan, 0)) AS scans FROM world.other_day JOIN pg_stat_xact_user_tables s USING (relid);
SET LOCAL enable_nestloop = off;
SELECT scans FROM world.other_days \gset
SELECT count(*) FROM jobstats_now('*OST0004', 10);
SELECT scans - :scans AS more FROM world.other_days;
ROLLBACK;

SELECT * FROM jobstats_now(n => -1);
SELECT * FROM jobstats_now(n => 10, at => 'infinity');
SET client_min_messages = warning;
DROP SCHEMA jobstats CASCADE;
SELECT * FROM jobstats_now(n => 10);
