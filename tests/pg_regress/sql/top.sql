-- jobstats_top(): who did most of it.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'

DO $$ BEGIN
    PERFORM observe('scratch-MDT0000', 'mds1', 0, 5, 10);
    PERFORM observe('scratch-OST0000', 'oss1', 0, 5, 10);
    PERFORM observe('scratch-OST0001', 'oss2', 5, 10);
    PERFORM act('scratch-MDT0000', '101:1000:n01', 0, 5, '{"open": 6000, "open_usecs": 30000000, "close": 6000, "close_usecs": 600000}');
    PERFORM act('scratch-MDT0000', '101:1000:n02', 5, 10, '{"open": 3000, "open_usecs": 15000000}');
    PERFORM act('scratch-MDT0000', 'rsync.1001', 5, 10, '{"getattr": 30000, "getattr_usecs": 6000000}');
    PERFORM act('scratch-OST0000', '102:1002:n03', 0, 5, '{"write_bytes": 4194304000, "write": 1000, "write_usecs": 60000000}');
    PERFORM act('scratch-OST0001', '102:1002:n03', 5, 10, '{"write_bytes": 4194304000, "write": 1000, "write_usecs": 60000000}');
    PERFORM act('scratch-OST0000', '101:1000:n01', 5, 10, '{"write_bytes": 32768, "write": 8, "write_usecs": 8000}');
    PERFORM act('scratch-OST0000', '103:1002:n04', 5, 10, '{"write_bytes": 32768, "write": 8, "write_usecs": 400}');
    PERFORM act('scratch-OST0000', ':1003:n05', 5, 10, '{"write_bytes": 32768, "write": 2, "write_usecs": 100}');
END $$;

-- Who kept the servers busy: seconds of work, and how many requests were in service on average.
SELECT rank, name, total, round(rate::numeric, 3) AS rate, round(share::numeric, 3) AS share, calls
FROM jobstats_top('2025-11-03 08:00', '2025-11-03 08:10', by => 'uid,workload');
SELECT rank, operation, per_call, coverage FROM jobstats_top(at(0), at(10));
-- All columns.
SELECT * FROM jobstats_top(at(0), at(10), 'metadata', 'uid,workload,target');

-- Who wrote most; of equal ones the first by name. Shares are of everybody's writes, whatever is shown.
SELECT rank, name, total, share, per_call FROM jobstats_top(at(0), at(10), 'write_bytes', 'job,uid');
SELECT rank, name, total, share, per_call FROM jobstats_top(at(0), at(10), 'write_bytes', 'job,uid', 2);
SELECT rank, name, rate, share FROM jobstats_top(at(0), at(10), 'write_bytes', 'uid', min_rate => 1000);
SELECT rank, name, share FROM jobstats_top(at(0), at(10), n => 1);
-- Filters do change what shares are of.
SELECT rank, name, total, share FROM jobstats_top(at(0), at(10), 'write_bytes', 'job,uid', filter => 'uid=1000,1003');
SELECT rank, name, total, share FROM jobstats_top(at(0), at(10), 'write_bytes', 'target');

-- Weights make an operation of others.
SELECT rank, name, operation, total, rate, share, calls, per_call
FROM jobstats_top(at(0), at(10), 'weighted', 'uid', weights => '{"write_bytes": 1e-6, "metadata": 0.01}');

-- No user had any; no user is selected.
SELECT * FROM jobstats_top(at(0), at(10), 'rmdir');
SELECT * FROM jobstats_top(at(0), at(10), n => 0);

-- Servers before Lustre 2.14 report no times: then metadata and bytes rank, with one NOTICE.
DO $$ BEGIN
    PERFORM observe('old-MDT0000', 'mds9', 10000, 10002);
    PERFORM act('old-MDT0000', 'ls.5', 10000, 10002, '{"open": 120, "getattr": 12}');
END $$;
SELECT * FROM jobstats_top(at(10000), at(10002));
SELECT rank, name, total, rate, calls, per_call FROM jobstats_top(at(10000), at(10002), 'metadata', by => 'uid,workload');

-- It is about the servers, not about the selected users: this one's renames took too little time to count.
DO $$ BEGIN
    PERFORM act('scratch-MDT0000', 'mv.1004', 5, 10, '{"rename": 1}');
END $$;
SELECT * FROM jobstats_top(at(0), at(10), filter => 'uid=1004');
SELECT name, rate FROM jobstats_rates(at(0), at(10), 'service_time', '', filter => 'uid=1004');

-- NULL is as if left out.
SELECT count(*) FROM jobstats_top(NULL, NULL, NULL, NULL, NULL, NULL);
SELECT rank, name, operation FROM jobstats_top(at(0), at(10), NULL, NULL, NULL);

-- What does not exist or makes no sense.
SELECT * FROM jobstats_top(operation => 'writes');
SELECT * FROM jobstats_top(operation => 'weighted');
SELECT * FROM jobstats_top(by => 'users');
SELECT * FROM jobstats_top(n => -1);
SELECT * FROM jobstats_top(at(0), at(0));
SET client_min_messages = warning;
DROP SCHEMA jobstats CASCADE;
SELECT * FROM jobstats_top();
