-- jobstats_summary(): what each did, in one row.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'


-- Job 101 on two nodes and all targets, a login node's rsync, and somebody without a job.
DO $$ BEGIN
    PERFORM observe('scratch-MDT0000', 'mds1', 0, 5, 10);
    PERFORM observe('scratch-OST0000', 'oss1', 0, 5, 10);
    PERFORM observe('scratch-OST0001', 'oss2', 0, 5, 10);
    PERFORM act('scratch-MDT0000', '101:1000:n01', 0, 5, '{"open": 60, "open_usecs": 6000, "close": 50, "close_usecs": 500, "mknod": 60, "mknod_usecs": 9000}');
    PERFORM act('scratch-MDT0000', '101:1000:n02', 5, 10, '{"open": 40, "open_usecs": 4000, "last_active": "2025-11-03 08:07:30+00"}');
    PERFORM act('scratch-OST0000', '101:1000:n01', 0, 5, '{"write_bytes": 4194304, "write": 4, "write_usecs": 8000}');
    PERFORM act('scratch-OST0001', '101:1000:n01', 0, 5, '{"write_bytes": 1048576, "write": 2, "write_usecs": 5000, "last_active": "2025-11-03 08:04:10+00"}');
    PERFORM act('scratch-OST0001', '101:1000:n02', 0, 5, '{"read_bytes": 2097152, "read": 2, "read_usecs": 4500}');
    PERFORM act('scratch-MDT0000', 'rsync.1001', 5, 10, '{"getattr": 500, "getattr_usecs": 25000}');
    PERFORM act('scratch-OST0000', ':1002:n03', 5, 10, '{"write_bytes": 10, "write": 1, "getattr": 7}');
END $$;

SELECT name, nodes, read_bytes, write_bytes, metadata, service_time, busiest_target
FROM jobstats_summary('2025-11-03 08:00', '2025-11-03 08:10');
SELECT name, first, last_active, read, write, opens FROM jobstats_summary('2025-11-03 08:00', '2025-11-03 08:10');
-- By anything; of one target by two dimensions.
SELECT name, nodes, opens, metadata, service_time FROM jobstats_summary('2025-11-03 08:00', '2025-11-03 08:10', 'workload,uid');
SELECT name, first, last_active, nodes, service_time, busiest_target FROM jobstats_summary(at(0), at(10), 'node');
SELECT name, nodes, service_time, busiest_target FROM jobstats_summary(at(0), at(10), 'kind,job', filter => 'filesystem=scratch');
-- All columns.
\x on
SELECT * FROM jobstats_summary(at(0), at(10), 'cluster,filesystem,kind,target,server,workload,job,node,executable,status,uid,entry', filter => 'executable=rsync');
\x off
SELECT * FROM jobstats_summary(at(0), at(10), '', filter => 'job=none');

-- By targets alone, idle targets have a row too. A target that was not observed is unknown.
DO $$ BEGIN
    PERFORM observe('scratch-OST0002', 'oss2', 0, 5, 10);
    PERFORM observe('scratch-OST0003', 'oss2', -10, -5);
END $$;
SELECT name, first, last_active, nodes, write_bytes, service_time, busiest_target FROM jobstats_summary(at(0), at(10), 'target');

-- Part of a row: it begins with the window or later and ends with it or before; the numbers equal totals.
SELECT name, first, last_active, write, opens, service_time FROM jobstats_summary(at(2), at(7), filter => 'job=101');
SELECT operation, total FROM jobstats_totals(at(2), at(7), 'write,open,service_time', 'job', filter => 'job=101');
-- A wrong clock does not show when an entry was last active.
DO $$ BEGIN
    PERFORM act('scratch-MDT0000', '102:1000:n01', 0, 5, '{"open": 1}');
    PERFORM act('scratch-MDT0000', '103:1000:n01', 0, 5, '{"open": 1, "last_active": "2030-01-01"}');
    PERFORM act('scratch-MDT0000', '104:1000:n01', 0, 5, '{"open": 9, "last_active": "2025-11-03 08:01+00"}');
END $$;
SELECT name, first, last_active, opens FROM jobstats_summary(at(0), at(4), filter => 'job=102,103');
SELECT name, first, last_active, opens FROM jobstats_summary(at(2), at(10), filter => 'job=104');

-- Servers before Lustre 2.14 report no times: the busiest target is the one with most calls.
DO $$ BEGIN
    PERFORM observe('old-MDT0000', 'mds9', 10000, 10005);
    PERFORM observe('old-OST0000', 'oss9', 10000, 10005);
    PERFORM act('old-MDT0000', '201:1000:n01', 10000, 10005, '{"open": 20, "mknod": 20}');
    PERFORM act('old-OST0000', '201:1000:n01', 10000, 10005, '{"write": 15, "write_bytes": 15, "punch": 6}');
    PERFORM act('old-OST0000', '202:1000:n02', 10000, 10005, '{"read": 1, "read_bytes": 1}');
END $$;
SELECT name, opens, metadata, service_time, busiest_target FROM jobstats_summary(at(10000), at(10005));

-- A file system of two clusters, a target of each called the same: as many nodes as there are in both.
DO $$ BEGIN
    PERFORM observe('b', 'old-MDT0000', 'mds9', ARRAY[at(10000), at(10005)]);
    PERFORM act('b', 'old-MDT0000', '201:1000:n01', at(10000), at(10005), '{"open": 7}');
    PERFORM act('b', 'old-MDT0000', '203:1000:n03', at(10000), at(10005), '{"open": 7}');
END $$;
SELECT name, nodes, opens FROM jobstats_summary(at(10000), at(10005), 'cluster,uid');
SELECT name, nodes, opens FROM jobstats_summary(at(10000), at(10005), 'uid');
SELECT name, nodes, opens FROM jobstats_summary(at(10000), at(10005), 'cluster');

-- NULL is as if left out.
SELECT count(*) FROM jobstats_summary(NULL, NULL, NULL);
SELECT name, opens FROM jobstats_summary(at(0), at(4), NULL, filter => 'uid=1000');

-- What does not exist or makes no sense.
SELECT * FROM jobstats_summary(by => 'users');
SELECT * FROM jobstats_summary(at(0), at(0));
SET client_min_messages = warning;
DROP SCHEMA jobstats CASCADE;
SELECT * FROM jobstats_summary();
