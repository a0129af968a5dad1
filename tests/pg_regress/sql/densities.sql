-- jobstats_densities(): how many have which rate.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'


-- Five users write within five minutes, at 1, 9.99, 10, 100 and 1234.5 B/s; another two only read.
DO $$ BEGIN
    PERFORM observe('scratch-OST0000', 'oss1', 0, 5, 10);
    PERFORM observe('scratch-OST0001', 'oss2', 0, 5, 10);
    PERFORM act('scratch-OST0000', '101:1001:n01', 0, 5, '{"write_bytes": 300}');
    PERFORM act('scratch-OST0000', '102:1002:n01', 0, 5, '{"write_bytes": 2997}');
    PERFORM act('scratch-OST0000', '103:1003:n01', 0, 5, '{"write_bytes": 1000}');
    PERFORM act('scratch-OST0001', '104:1003:n02', 0, 5, '{"write_bytes": 2000}');
    PERFORM act('scratch-OST0000', '105:1004:n01', 0, 5, '{"write_bytes": 30000}');
    PERFORM act('scratch-OST0001', '106:1005:n03', 0, 5, '{"write_bytes": 370350}');
    PERFORM act('scratch-OST0001', 'cat.1006', 0, 10, '{"read_bytes": 6000, "read": 6, "read_usecs": 60}');
    PERFORM act('scratch-OST0001', 'cat.1007', 0, 5, '{"read_bytes": 1, "read": 1}');
    PERFORM act('scratch-OST0001', '101:1001:n01', 5, 10, '{"write_bytes": 30000}');
END $$;

SELECT * FROM jobstats_densities('2025-11-03 08:00', '2025-11-03 08:10', 'write_bytes', step => '5 minutes');
-- Who is it that wrote a hundred bytes per second and more, but less than a thousand?
SELECT name, rate FROM jobstats_top('2025-11-03 08:00', '2025-11-03 08:05', 'write_bytes', 'uid', min_rate => 100)
WHERE rate < 1000;

-- Over the whole window; in powers of two; values below one.
SELECT * FROM jobstats_densities(at(0), at(10), 'write_bytes');
SELECT * FROM jobstats_densities(at(0), at(5), 'write_bytes', base => 2);
SELECT * FROM jobstats_densities(at(0), at(5), 'read_bytes', base => 100);
-- The default is the mean number of requests in service: for user 1006 it is 0.0000001, for the others zero.
SELECT * FROM jobstats_densities(at(0), at(10));

-- Of jobs, nodes, targets; of all together, which is one.
SELECT lower, count FROM jobstats_densities(at(0), at(5), 'write_bytes', 'job');
SELECT lower, count FROM jobstats_densities(at(0), at(5), 'write_bytes', 'target,node');
SELECT "time", lower, count FROM jobstats_densities(at(0), at(10), 'write_bytes', 'target', step => '2 minutes 30 seconds');
SELECT lower, count FROM jobstats_densities(at(0), at(5), 'write_bytes', '');
-- Those without a job are one group.
SELECT lower, count FROM jobstats_densities(at(0), at(5), 'read_bytes', 'job');
SELECT lower, count FROM jobstats_densities(at(0), at(5), 'write_bytes', 'uid', filter => 'target=*OST0001 uid=1003,1005,1001');
SELECT count(*) FROM jobstats_densities(at(0), at(10), 'rmdir');

-- top agrees with buckets: in every step, by every dimension, as many of its rates lie in the bucket as were counted.
SELECT setseed(0.125);
DO $$ BEGIN
    PERFORM observe('work-MDT0000', 'mds1', VARIADIC ARRAY(SELECT 100 + n * 2.0 FROM generate_series(0, 30) AS n));
    PERFORM observe('work-OST0000', 'oss1', VARIADIC ARRAY(SELECT 100.3 + n * 1.7 FROM generate_series(0, 30) AS n));
    PERFORM observe('work-OST0001', 'oss2', VARIADIC ARRAY(SELECT 107 + n * 3.1 FROM generate_series(0, 10) AS n));
    PERFORM act(t.name, format('%s:%s:n%s', 100 + n, 1000 + n / 3, n % 5),
        extract(epoch FROM o.since - at(0))::numeric / 60, extract(epoch FROM o."time" - at(0))::numeric / 60,
        jsonb_build_object('write_bytes', (10 ^ (random() * 8))::bigint, 'read', (10 ^ (random() * 3))::bigint,
            'read_usecs', (10 ^ (random() * 6))::bigint, 'getattr', (10 ^ (random() * 3))::bigint))
    FROM jobstats.observations o JOIN jobstats.targets t USING (target_id), generate_series(0, 20) AS n
    WHERE t.filesystem = 'work' AND o.since IS NOT NULL AND random() < 0.3;
END $$;
CREATE TABLE densities AS
SELECT q.*, d."time", s.ends, d.bucket, d.lower, d.upper, d.count
FROM (
    SELECT operation, by, base, step::interval
    FROM unnest(ARRAY['write_bytes', 'service_time', 'metadata']) AS operation,
        (VALUES ('uid'), ('job,node'), ('target'), ('server,uid')) AS groups (by),
        (VALUES (10, '7 minutes'), (2, '23 minutes 1 second')) AS base (base, step)
) q
CROSS JOIN LATERAL jobstats_densities(at(100), at(160), operation, by, base, step, filter => 'filesystem=work') d
JOIN LATERAL (
    SELECT r."time", r."time" + r.seconds * interval '1 second' AS ends
    FROM jobstats_rates(at(100), at(160), 'write_bytes', '', q.step, filter => 'filesystem=work') r
) s USING ("time");
CREATE TABLE found AS
SELECT d.operation, d.by, d.base, d.step, d."time", d.bucket, d.lower, d.count,
    (SELECT count(*) FROM jobstats_top(d."time", d.ends, d.operation, d.by, 100000, d.lower, filter => 'filesystem=work') t
    WHERE t.rate < d.upper) AS found
FROM densities d;
SELECT base, count(*) > 100 AS buckets, sum(count) > 300 AS counted FROM found GROUP BY base ORDER BY base;
SELECT * FROM found WHERE found <> count;
SELECT DISTINCT base FROM densities WHERE round(lower::numeric, 9) <> round((base::numeric ^ bucket)::numeric, 9) OR round(upper::numeric, 9) <> round((base::numeric ^ (bucket + 1))::numeric, 9);
-- And all who did anything are counted.
SELECT d."time", d.operation, d.by, d.counted, t.groups FROM (
    SELECT operation, by, step, "time", ends, sum(count) AS counted FROM densities GROUP BY 1, 2, 3, 4, 5
) d, LATERAL (
    SELECT count(*) AS groups FROM jobstats_top(d."time", d.ends, d.operation, d.by, 100000, filter => 'filesystem=work')
) t
WHERE d.counted <> t.groups;

-- Before Lustre 2.14 there are no times to count, but bytes and metadata.
DO $$ BEGIN
    PERFORM observe('old-OST0000', 'oss9', 0, 5);
    PERFORM act('old-OST0000', '201:1000:n01', 0, 5, '{"write": 300, "write_bytes": 30000}');
END $$;
SELECT * FROM jobstats_densities(at(0), at(5), filter => 'filesystem=old');

-- NULL is as if left out.
SELECT count(*) FROM jobstats_densities(NULL, NULL, NULL, NULL, NULL, NULL);
SELECT lower, count FROM jobstats_densities(at(0), at(10), NULL, NULL, NULL, NULL, filter => 'target=scratch*');

-- What does not exist or makes no sense.
SELECT * FROM jobstats_densities(operation => 'writes');
SELECT * FROM jobstats_densities(by => 'users');
SELECT * FROM jobstats_densities(base => 1);
SELECT * FROM jobstats_densities(base => 101);
SELECT * FROM jobstats_densities(at(0), at(0));
SELECT * FROM jobstats_densities(at(0), at(5), step => '0');
SET client_min_messages = warning;
DROP SCHEMA jobstats CASCADE;
SELECT * FROM jobstats_densities();
