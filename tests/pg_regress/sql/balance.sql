-- jobstats_balance(): how evenly targets are used, and who leads on each.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'


-- Five OSTs, one of them idle; OST0003 is written to by two, and was observed only half of the time.
DO $$ BEGIN
    PERFORM observe('scratch-MDT0000', 'mds1', 0, 5, 10);
    PERFORM observe(format('scratch-OST000%s', n), 'oss1', 0, 5, 10) FROM generate_series(0, 2) AS n;
    PERFORM observe('scratch-OST0003', 'oss2', 5, 10);
    PERFORM observe('scratch-OST0004', 'oss2', 0, 5, 10);
    PERFORM act('scratch-OST0000', '101:1000:n01', 0, 5, '{"write_bytes": 600000, "write": 2}');
    PERFORM act('scratch-OST0001', '101:1000:n01', 0, 5, '{"write_bytes": 300000, "write": 2}');
    PERFORM act('scratch-OST0001', '101:1000:n02', 5, 10, '{"write_bytes": 300000, "write": 2}');
    PERFORM act('scratch-OST0002', '102:1001:n03', 0, 10, '{"write_bytes": 1200000, "write": 3}');
    PERFORM act('scratch-OST0003', '103:1001:n04', 5, 10, '{"write_bytes": 7200000, "write": 7000}');
    PERFORM act('scratch-OST0003', 'rsync.1002', 5, 10, '{"write_bytes": 1800000, "write": 30}');
    PERFORM act('scratch-OST0004', 'rsync.1002', 5, 10, '{"read_bytes": 90000, "read": 30}');
END $$;
SELECT target, rate, ratio, leader, leader_share, coverage FROM jobstats_balance('2025-11-03 08:00', '2025-11-03 08:10', filter => 'filesystem=scratch');

-- MDTs report writes too; they are compared among themselves. Only OSTs report what objects are created.
SELECT kind, target, rate, ratio, leader FROM jobstats_balance(at(0), at(10), 'write', filter => 'filesystem=scratch');
SELECT kind, target, rate FROM jobstats_balance(at(0), at(10), 'create', filter => 'filesystem=scratch');
SELECT kind, target, rate FROM jobstats_balance(at(0), at(10), 'metadata', filter => 'filesystem=scratch');

-- Rates equal jobstats_rates().
SELECT b.target FROM jobstats_balance(at(0), at(10), filter => 'filesystem=scratch') b
FULL JOIN jobstats_rates(at(0), at(10), 'write_bytes') r ON (r.name, r.rate, r.coverage) = (b.target, b.rate, b.coverage)
WHERE b.kind IS NULL OR r.operation IS NULL;

-- A target that was observed on the day before, but not now, is not zero. Where the median is zero there is no ratio, and targets above it
-- still come first. Of equal leaders the first by name is shown.
DO $$ BEGIN
    PERFORM observe(format('home-OST000%s', n), 'oss9', 0, 5, 10) FROM generate_series(0, 2) AS n;
    PERFORM observe('home-OST0003', 'oss9', -10, -5);
    PERFORM act('home-OST0001', 'cp.1003', 0, 5, '{"write_bytes": 300, "write": 3}');
    PERFORM act('home-OST0001', 'cat.1004', 0, 5, '{"write_bytes": 300}');
END $$;
SELECT target, rate, ratio, leader, leader_share, coverage FROM jobstats_balance(at(0), at(10), filter => 'filesystem=home') WHERE kind = 'OST';

-- Of all file systems: each by its own median, those farthest above it first. Of two clusters likewise.
DO $$ BEGIN
    PERFORM observe('b', 'home-OST0000', 'oss9', ARRAY[at(0), at(10)]);
    PERFORM act('b', 'home-OST0000', 'cp.1003', at(0), at(10), '{"write_bytes": 600}');
END $$;
SELECT labels ->> 'cluster' AS cluster, target, rate, ratio FROM jobstats_balance(since => at(0), until => at(10)) WHERE kind = 'OST';
SELECT split_part(target, '-', 1) AS filesystem, count(*) FROM jobstats_balance(at(0), at(10), filter => 'filesystem=*o*') GROUP BY 1;
SELECT * FROM jobstats_balance(at(0), at(10), filter => 'filesystem=none');

-- The other filters: a cluster, targets, and kinds that do not report the operation. The median is over the selected targets.
SELECT labels ->> 'cluster' AS cluster, target, rate, ratio FROM jobstats_balance(at(0), at(10), filter => 'cluster=b');
SELECT target, rate, ratio FROM jobstats_balance(at(0), at(10), filter => 'target=scratch-OST0003,scratch-OST0004,home-OST0003');
SELECT kind, target, rate FROM jobstats_balance(at(0), at(10), 'create', filter => 'filesystem=scratch kind=MDT');
SELECT target FROM jobstats_balance(at(0), at(10), filter => 'target=scratch-OST9');

-- Before Lustre 2.14 there are no times.
SELECT target, rate, ratio, leader, leader_share, coverage FROM jobstats_balance(at(0), at(10), 'service_time', filter => 'filesystem=home') WHERE labels ->> 'cluster' = '';

-- NULL is as if left out.
SELECT count(*) FROM jobstats_balance(NULL, NULL, NULL);
SELECT count(*) FROM jobstats_balance(at(0), at(10), NULL);

-- What does not exist or makes no sense.
SELECT * FROM jobstats_balance(operation => 'writes');
SELECT * FROM jobstats_balance(at(0), at(0));
SET client_min_messages = warning;
DROP SCHEMA jobstats CASCADE;
SELECT * FROM jobstats_balance();
