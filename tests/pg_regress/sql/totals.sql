-- jobstats_totals(): how much in all, exactly.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'

DO $$ BEGIN
    PERFORM observe('scratch-MDT0000', 'mds1', 0, 5, 10, 15, 20);
    PERFORM observe('scratch-OST0000', 'oss1', 0, 5, 10, 15, 20);
    PERFORM observe('scratch-OST0001', 'oss2', 0, 5);
    PERFORM act('scratch-MDT0000', '101:1000:n01', 0, 5, '{"open": 9, "open_usecs": 900, "close": 12, "close_usecs": 30}');
    PERFORM act('scratch-MDT0000', '102:1001:n02', 5, 10, '{"open": 1, "open_usecs": 7, "mkdir": 10, "mkdir_usecs": 1000}');
    PERFORM act('scratch-OST0000', '101:1000:n01', 0, 5, '{"read_bytes": 4096000, "read": 1000, "read_usecs": 500000}');
    PERFORM act('scratch-OST0000', '101:1000:n01', 5, 10, '{"read_bytes": 96000, "read": 24, "read_usecs": 12000}');
    PERFORM act('scratch-OST0000', '102:1001:n02', 15, 20, '{"write_bytes": 7, "write": 7, "write_usecs": 70, "statfs": 20}');
END $$;

-- Per call are bytes or microseconds, where there are ten calls or more.
SELECT operation, total, calls, per_call, coverage
FROM jobstats_totals('2025-11-03 08:00', '2025-11-03 08:20', by => '');
SELECT name, operation, total, calls, per_call, coverage FROM jobstats_totals(at(0), at(20), 'metadata,service_time,open_time');
SELECT * FROM jobstats_totals(at(0), at(20), 'service_time', 'uid,job,kind');

-- Not observed is NULL, which is not zero.
SELECT name, total, calls, coverage FROM jobstats_totals(at(10), at(20), 'read', filter => 'kind=OST');

-- What a row counted in a window that it crosses the edge of: floor(1000 * 299 / 300), and the rest.
SELECT total FROM jobstats_totals(at(0), at(5) - interval '1 second', 'read', '');
SELECT total FROM jobstats_totals(at(5) - interval '1 second', at(5), 'read', '');
-- A window inside of a row; a short one, in which it was idle.
SELECT total FROM jobstats_totals(at(1), at(2), 'read', '');
SELECT total FROM jobstats_totals(at(1), at(1) + interval '1 microsecond', 'read', '');

-- The edges of a window: its start does not belong to it, its end does.
SELECT name, total FROM jobstats_totals(at(5), at(10), 'open', 'uid');

-- The arguments are those for rates.
SELECT name, total FROM jobstats_totals(at(0), at(20), 'read_bytes', 'job', filter => 'job=10* uid=1000');
SELECT name, total, coverage FROM jobstats_totals(at(0), at(20), 'read', 'server', filter => 'filesystem=scr*');

-- A larger world: three targets over two hours, one of them with a gap of 50 minutes; many entries, at random.
SELECT setseed(0.5);
DO $$ BEGIN
    PERFORM observe('work-MDT0000', 'mds1', VARIADIC ARRAY(SELECT 1000 + n * 2.0 FROM generate_series(0, 60) AS n));
    PERFORM observe('work-OST0000', 'oss1', VARIADIC ARRAY(SELECT 1000.3 + n * 1.7 FROM generate_series(0, 60) AS n));
    PERFORM observe('work-OST0001', 'oss2', VARIADIC ARRAY(SELECT 1000.9 + n * 3.1 + 50 * (n / 10) FROM generate_series(0, 20) AS n));
    PERFORM enter(format('%s:%s:n%s', 100 + n, 1000 + n % 2, n)) FROM generate_series(0, 5) AS n;
END $$;
INSERT INTO jobstats.increments ("time", since, observed, target_id, entry_id, reset, read, read_bytes, read_usecs)
SELECT least(s.since + interval '10 minutes', o."time"), s.since, o."time", o.target_id, e.entry_id, false,
    (random() * 1000)::integer, (random() * 1e12)::bigint, (random() * 1e6)::integer
FROM jobstats.observations o JOIN jobstats.targets t USING (target_id),
    generate_series(o.since, o."time" - interval '1 microsecond', '10 minutes') AS s (since), jobstats.entries e
WHERE t.filesystem = 'work' AND random() < 0.5;
-- As a feed does of rows that it divides at hours only.
INSERT INTO jobstats.coarse VALUES (date_bin('1 hour', at(1000), 'epoch'), date_bin('1 hour', at(1230), 'epoch'), '1 hour');
SELECT count(*) > 300 AS many, max("time" - since) AS longest FROM jobstats.increments WHERE since > at(900);

-- Windows that lie side by side add up to the one around them, whatever their edges.
CREATE TABLE edges AS
SELECT row_number() OVER (ORDER BY edge) AS n, edge
FROM (SELECT at(1000) UNION SELECT at(1170) UNION SELECT at(1000) + random() * interval '170 minutes' FROM generate_series(1, 40)) AS edges (edge);
CREATE TABLE parts AS
SELECT p.*
FROM edges e JOIN edges f ON f.n = e.n + 1,
    jobstats_totals(e.edge, f.edge, 'read,read_bytes,service_time', 'target,uid,node') p;
SELECT count(*) > 500 AS many FROM parts;
SELECT name, operation, total, calls
FROM (SELECT name, operation, sum(total) AS total, sum(calls) AS calls FROM parts GROUP BY 1, 2) p
FULL JOIN jobstats_totals(at(1000), at(1170), 'read,read_bytes,service_time', 'target,uid,node') w USING (name, operation, total, calls)
WHERE w.name IS NULL OR p.name IS NULL;

-- So do steps, and sums over everything are sums over the parts.
SELECT sum(total) = (SELECT sum(read_bytes) FROM jobstats.increments WHERE since > at(900)) AS same
FROM parts WHERE operation = 'read_bytes';
SELECT sum(r.total) - (SELECT sum(read) FROM jobstats.increments WHERE since > at(900)) AS difference
FROM jobstats_rates(at(1000), at(1170), 'read', 'target', '7 minutes', filter => 'filesystem=work') r;
SELECT count(*) FROM generate_series(0, 170, 17) AS minute
WHERE (SELECT total FROM jobstats_totals(at(1000), at(1000 + minute) + interval '1 second', 'read', '', filter => 'filesystem=work'))
    IS DISTINCT FROM (SELECT sum(total) FROM jobstats_totals(at(1000), at(1000 + minute) + interval '1 second', 'read', 'node,target'));

-- Filters that match more entries than are looked up one by one, just as many, and zero.
DO $$ BEGIN
    PERFORM observe('many-OST0000', 'oss1', 0, 10);
    PERFORM act('many-OST0000', format('%s:1000:n01', 5000 + n), 0, 10, '{"write_bytes": 1}') FROM generate_series(0, 1000) n;
END $$;
SELECT total FROM jobstats_totals(at(0), at(10), 'write_bytes', 'cluster', filter => 'filesystem=many job=5*,6000');
SELECT total FROM jobstats_totals(at(0), at(10), 'write_bytes', 'cluster', filter => 'filesystem=many job=5*');
SELECT total FROM jobstats_totals(at(0), at(10), 'write_bytes', 'cluster', filter => 'filesystem=many job=4999');

-- NULL is as if left out; no store, no answer.
SELECT count(*) FROM jobstats_totals(NULL, NULL, NULL, NULL);
SELECT * FROM jobstats_totals(at(10), at(0));
SELECT * FROM jobstats_totals(operations => 'none');
SELECT * FROM jobstats_totals(by => 'none');
SET client_min_messages = warning;
DROP SCHEMA jobstats CASCADE;
SELECT * FROM jobstats_totals();
