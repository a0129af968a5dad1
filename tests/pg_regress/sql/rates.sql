-- jobstats_rates(): how fast, over time and by whatever you like.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'

-- Two targets, 600 bytes written to each within ten minutes. A was observed all the time, B only since minute 5.
DO $$ BEGIN
    PERFORM observe('scratch-OST0000', 'oss1', 0, 5, 10);
    PERFORM observe('scratch-OST0001', 'oss2', 5, 10);
    PERFORM act('scratch-OST0000', '101:1000:n01', 0, 5, '{"write_bytes": 600, "write": 2}');
    PERFORM act('scratch-OST0001', '102:1001:n02', 5, 10, '{"write_bytes": 600, "write": 3}');
END $$;

-- While A was observed it took 1 B/s, while B was observed 2 B/s: 3 B/s together, and three quarters were observed.
SELECT "time", seconds, operation, rate, coverage
FROM jobstats_rates('2025-11-03 08:00', '2025-11-03 08:10', 'write_bytes', '');
SELECT name, operation, rate, coverage
FROM jobstats_rates('2025-11-03 08:00', '2025-11-03 08:10', 'write_bytes');

-- A metadata target joins in, and the first two go on: B on another server, its partner having taken it over.
DO $$ BEGIN
    PERFORM observe('scratch-MDT0000', 'mds1', 0, 5, 10, 15, 20);
    PERFORM observe('scratch-OST0000', 'oss1', 15, 20);
    PERFORM observe('scratch-OST0001', 'oss1', 15, 20);
    PERFORM act('scratch-MDT0000', '101:1000:n01', 0, 5, '{"open": 60, "open_usecs": 6000, "close": 60, "close_usecs": 600}');
    PERFORM act('scratch-MDT0000', 'bash.1002', 5, 10, '{"getattr": 30, "getattr_usecs": 300, "mknod": 5, "mknod_usecs": 50}');
    PERFORM act('scratch-OST0000', '101:1000:n03', 10, 15, '{"write_bytes": 3000, "write": 30, "write_usecs": 60000, "getattr": 3}');
    PERFORM act('scratch-OST0001', '102:1001:n02', 10, 15, '{"read_bytes": 900, "read": 9, "read_usecs": 9000}');
    PERFORM act('scratch-OST0001', ':1001:n04', 15, 20, '{"write_bytes": 90, "write": 1, "write_usecs": 900}');
END $$;

-- By default every operation that occurred, by target: zero where it was idle, no row where a target of that kind does not report the
-- operation.
SELECT name, operation, rate, coverage FROM jobstats_rates(at(0), at(20));

-- An operation that is named is shown for every target.
SELECT name, operation, rate FROM jobstats_rates(at(0), at(20), 'open,open_time');

-- Derived operations. Opens, closes and getattrs of metadata targets are metadata; mknod is not, as it counts in open too, and neither are
-- operations of object storage targets. Service time is seconds of work per second.
SELECT name, operation, rate FROM jobstats_rates(at(0), at(20), 'metadata,service_time', 'kind');

-- All dimensions.
SELECT * FROM jobstats_rates(at(0), at(20), 'write_bytes', 'cluster,filesystem,kind,target,server,workload,job,node,executable,status,uid,entry');

-- In steps; of the first and the last there may be a part. Not observed is NULL, which is not zero.
SELECT "time", seconds, name, rate, coverage
FROM jobstats_rates(at(0), at(20), 'write_bytes', step => '8 minutes', filter => 'kind=OST');
-- By dimensions other than targets, idle groups have no rows.
SELECT "time", seconds, name, rate, coverage
FROM jobstats_rates(at(0), at(20), 'write_bytes', 'job', '8 minutes', filter => 'kind=OST');
-- A step finer than the rows: their counts are spread over their time, in whole numbers.
SELECT to_char("time", 'HH24:MI:SS') AS "time", rate * seconds AS bytes
FROM jobstats_rates(at(15), at(20), 'write_bytes', '', '40 seconds', filter => 'target=scratch-OST0001');

-- Filters take patterns, any of which must match. They do not change coverage, unless they are about targets.
SELECT name, rate, coverage FROM jobstats_rates(at(0), at(20), 'write_bytes', 'uid', filter => 'job=101,9*');
SELECT name, rate, coverage FROM jobstats_rates(at(0), at(20), 'write_bytes', 'uid', filter => 'target=*OST0000');
SELECT name, rate FROM jobstats_rates(at(0), at(20), 'write_bytes', 'uid', filter => 'uid=1001,7 status=missing*');
SELECT rate FROM jobstats_rates(at(0), at(20), 'write_bytes', '', filter => '{"node": []}');
SELECT name, rate FROM jobstats_rates(at(0), at(20), 'write_bytes', filter => 'workload=none kind=OST');
SELECT name, rate FROM jobstats_rates(at(0), at(20), 'write_bytes', filter => 'target=none');

-- By server: a target counts for the server that it was observed on.
SELECT name, rate, coverage FROM jobstats_rates(at(0), at(20), 'read_bytes,write_bytes', 'server,target', filter => 'kind=OST')
WHERE operation = 'write_bytes';
SELECT rate, coverage FROM jobstats_rates(at(0), at(20), 'write_bytes', '', filter => 'server=oss1');

-- Weights make an operation of others.
SELECT operation, name, rate FROM jobstats_rates(at(0), at(20), 'open', 'job', weights => '{"write_bytes": 1e-1, "open": 2}');
SELECT operation, rate FROM jobstats_rates(at(0), at(20), 'weighted', '', weights => '{"metadata": 1}');
SELECT operation, rate FROM jobstats_rates(at(0), at(20), '', '', weights => '{"service_time": -10}');

-- No operations, no rows; nor without a target in scope.
SELECT * FROM jobstats_rates(at(0), at(20), '');
SELECT * FROM jobstats_rates(at(-9000), at(-8990));
-- A target is in scope if it was observed in the window or on the day before.
SELECT name, rate, coverage FROM jobstats_rates(at(60 * 24), at(60 * 24 + 10), 'write');
SELECT name, rate, coverage FROM jobstats_rates(at(60 * 24 + 20), at(60 * 24 + 30), 'write');

-- Steps of a day follow the time zone of the session: where summer time ends there is one of 25 hours.
DO $$ BEGIN
    PERFORM observe('', 'home-OST0000', 'oss9', ARRAY(SELECT generate_series(timestamptz '2025-10-24 12:00+00', '2025-10-28', '1 hour')));
    PERFORM act('', 'home-OST0000', 'cp.1', hour, hour + interval '1 hour', '{"write": 3600}')
        FROM generate_series(timestamptz '2025-10-25 00:00+00', '2025-10-26', '1 hour') AS hour;
END $$;
SET TimeZone = 'Europe/Helsinki';
SELECT "time", seconds, rate, coverage FROM jobstats_rates('2025-10-25', '2025-10-28', 'write', step => '1 day', filter => 'filesystem=home');
SET TimeZone = 'UTC';
SELECT "time", seconds, rate, coverage FROM jobstats_rates('2025-10-25', '2025-10-28', 'write', step => '1 day', filter => 'filesystem=home');

-- A gap in the observations that is longer than the window, or than a day.
DO $$ BEGIN
    PERFORM observe('home-OST0001', 'oss9', -9000, -3000);
    PERFORM observe('home-OST0001', 'oss9', 3000);
END $$;
SELECT name, rate, coverage FROM jobstats_rates(at(-60), at(-50), 'read', filter => 'filesystem=home');

-- Servers before Lustre 2.14 report no times: these are unknown, not zero, and a NOTICE names them once.
DO $$ BEGIN
    PERFORM observe('old-MDT0000', 'mds9', 10000, 10002, 10004);
    PERFORM observe('old-OST0000', 'oss9', 10000, 10002, 10004);
    PERFORM act('old-MDT0000', 'ls.5', 10000, 10002, '{"open": 120, "getattr": 12}');
    PERFORM act('old-MDT0000', 'cp.6', 10002, 10004, '{"open": 1}');
END $$;
SELECT name, operation, rate FROM jobstats_rates(at(10000), at(10004), 'service_time,metadata,getattr_time');
SELECT name, operation, rate FROM jobstats_rates(at(10000), at(10004), 'service_time,open', 'uid');
-- Where one target reports times, the time of another that does not is still unknown.
DO $$ BEGIN
    PERFORM observe('new-MDT0000', 'mds8', 10000, 10002, 10004);
    PERFORM act('new-MDT0000', 'ls.5', 10000, 10002, '{"open": 120, "open_usecs": 240000}');
END $$;
SELECT name, operation, rate FROM jobstats_rates(at(10000), at(10004), 'service_time');

-- NULL is as if left out.
SELECT count(*) FROM jobstats_rates(NULL, NULL, NULL, NULL, NULL);
SELECT r = s AS same FROM jobstats_rates(at(0), at(20), 'open', NULL, filter => 'kind=MDT') r, jobstats_rates(at(0), at(20), 'open', filter => 'kind=MDT') s;

-- What does not exist or makes no sense.
\set VERBOSITY default
SELECT * FROM jobstats_rates(operations => 'opens');
SELECT * FROM jobstats_rates(operations => 'read_bytes_time');
SELECT * FROM jobstats_rates(by => 'target,users');
\set VERBOSITY terse
SELECT * FROM jobstats_rates(operations => '{NULL}');
SELECT * FROM jobstats_rates(by => '{NULL}');
SELECT * FROM jobstats_rates(operations => 'weighted');
SELECT * FROM jobstats_rates(weights => '{"weighted": 1}');
SELECT * FROM jobstats_rates(weights => '{"open": "many"}');
SELECT * FROM jobstats_rates(weights => '{}');
SELECT * FROM jobstats_rates(weights => '[1]');
SELECT * FROM jobstats_rates(at(10), at(10));
SELECT * FROM jobstats_rates(at(10), at(5));
SELECT min(time), max(seconds), sum(total) FROM jobstats_rates('-infinity', at(10), 'write_bytes');
SELECT * FROM jobstats_rates(at(0), at(10), step => '0');
SELECT * FROM jobstats_rates(at(0), at(10), step => '-1 minute');
SELECT * FROM jobstats_rates(at(0), at(10), step => '1 month -29 days');
\set VERBOSITY default
SELECT count(*) FROM jobstats_rates(at(0), at(20), step => '1 millisecond');
\set VERBOSITY terse

-- Reading is read-only and takes no transaction id, so it also works on a standby and in a parallel query.
BEGIN READ ONLY;
SELECT count(*) > 0 AS any FROM jobstats_rates(at(0), at(20));
SELECT count(*) > 0 AS any FROM jobstats_top(at(0), at(20));
SELECT count(*) > 0 AS any FROM jobstats_now(n => 10);
SELECT pg_current_xact_id_if_assigned();
COMMIT;

-- A window that reaches now ends where every target was observed, except late ones (window_of_late_targets).
BEGIN;
DO $$ BEGIN
    PERFORM observe('now', 'x-OST0000', 'oss1', ARRAY(SELECT now() - n * interval '2 minutes' - interval '30 seconds' FROM generate_series(0, 20) AS n));
    PERFORM observe('now', 'x-OST0001', 'oss2', ARRAY(SELECT now() - n * interval '2 minutes' - interval '90 seconds' FROM generate_series(0, 20) AS n));
END $$;
SELECT now() - "time" AS began, seconds, name, coverage FROM jobstats_rates(operations => 'read', filter => 'cluster=now');
SELECT now() - min("time") AS began, round(sum(seconds)) AS seconds, min(coverage) AS coverage
FROM jobstats_rates(now() - interval '10 minutes', now() + interval '1 hour', 'read', '', '3 minutes', filter => 'cluster=now');
-- Ten seconds more or less do not matter: clocks differ. A window that ends before is unchanged.
SELECT DISTINCT seconds FROM jobstats_rates(now() - interval '10 minutes', now() - interval '10 seconds', 'read', filter => 'cluster=now');
SELECT name, seconds, coverage FROM jobstats_rates(now() - interval '10 minutes', now() - interval '60 seconds', 'read', filter => 'cluster=now');
-- Only targets in scope are awaited.
SELECT seconds, name FROM jobstats_rates(operations => 'read', filter => 'cluster=now target=x-OST0000');
SELECT seconds, name FROM jobstats_rates(operations => 'read', filter => 'cluster=now server=oss1');
-- A target that is usually seen every two minutes is late after four.
DO $$ BEGIN
    PERFORM observe('now', 'x-OST0002', 'oss2', ARRAY(SELECT now() - n * interval '2 minutes' - interval '4 minutes' FROM generate_series(0, 5) AS n));
END $$;
SELECT seconds, name, coverage FROM jobstats_rates(operations => 'read', filter => 'cluster=now');
DO $$ BEGIN PERFORM delay('x-OST0002', '7 minutes'); END $$;
SELECT seconds, name, coverage FROM jobstats_rates(operations => 'read', filter => 'cluster=now');
-- A target that is typically read every hour is not late, and not awaited.
DO $$ BEGIN
    PERFORM observe('now', 'x-OST0003', 'oss2', ARRAY(SELECT now() - n * interval '1 hour' - interval '5 minutes' FROM generate_series(0, 5) AS n));
END $$;
SELECT seconds, name, coverage FROM jobstats_rates(operations => 'read', filter => 'cluster=now');
-- A target that was not yet observed in the window is not awaited. If no target was, there is no window.
SELECT seconds, name, coverage FROM jobstats_rates(now() - interval '1 minute', operations => 'read', filter => 'cluster=now');
SELECT seconds, name, coverage FROM jobstats_rates(now() - interval '20 seconds', operations => 'read', filter => 'cluster=now');
-- All are silent and were before the window: the requested window stays.
SELECT seconds, name, coverage FROM jobstats_rates(operations => 'read', filter => 'cluster=now target=x-OST0002');
ROLLBACK;

-- Whether a target reports times does not depend on the rows in the answer.
DO $$ BEGIN
    PERFORM observe('timed-OST0000', 'oss7', 20000, 20010);
    PERFORM observe('timed-OST0001', 'oss7', 20000, 20010);
    PERFORM act('timed-OST0000', '71:7000:n1', 20000, 20010, '{"read": 6, "read_usecs": 6000000}');
    PERFORM act('timed-OST0000', '72:7001:n1', 20000, 20010, '{"read_bytes": 600}');
    PERFORM act('timed-OST0001', '71:7000:n1', 20000, 20010, '{"read": 6}');
    PERFORM act('timed-OST0001', '72:7001:n1', 20000, 20010, '{"read_bytes": 600}');
END $$;
SELECT name, operation, rate
FROM jobstats_rates(at(20000), at(20010), 'service_time,read_bytes', filter => 'filesystem=timed uid=7001');
SELECT name, operation, rate
FROM jobstats_rates(at(20000), at(20010), 'service_time', filter => 'filesystem=timed uid=7002');

-- Without a store: an error.
SET client_min_messages = warning;
DROP SCHEMA jobstats CASCADE;
\set VERBOSITY default
SELECT * FROM jobstats_rates();
