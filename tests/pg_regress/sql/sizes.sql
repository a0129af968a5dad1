-- jobstats_io_sizes(): how large reads and writes were.
\i store.sql
\i calls.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'

-- Job 7 writes to an OST of Lustre 2.16 and to one of 2.14, job 8 reads from one of 2.12.
DO $$ BEGIN
    INSERT INTO jobstats.feed (server, "time", body)
    SELECT 'oss1', at(minute), ost(target)
    FROM unnest(ARRAY['fs-OST0016', 'fs-OST0014', 'fs-OST0012']) AS target, unnest(ARRAY[-5, 0]) AS minute ORDER BY minute;
    INSERT INTO jobstats.feed (server, "time", body) VALUES
        ('oss1', at(5), ost('fs-OST0016', calls('hist', '7:1000:n1', at(1), '{}', '{4096,4096,1000}'))),
        ('oss1', at(5), ost('fs-OST0014', calls('squares', '7:1000:n1', at(1), '{}', '{2,4,4,4}'))),
        ('oss1', at(5), ost('fs-OST0012', calls('sums', '8:1000:n2', at(1), '{10,20}', '{}'))),
        ('oss1', at(10), ost('fs-OST0016', calls('hist', '7:1000:n1', at(1), '{}', '{4096,4096,1000,1048576,5000}'))),
        ('oss1', at(10), ost('fs-OST0014', calls('squares', '7:1000:n1', at(1), '{}', '{2,4,4,4,5,5,7,9}'))),
        ('oss1', at(10), ost('fs-OST0012', calls('sums', '8:1000:n2', at(1), '{10,20,60}', '{}')));
END $$;

-- 13 writes: five with their size, and eight with a mean of 5 and a standard deviation of 2. 2.12 prints no squares.
SELECT operation, source, lower, upper, calls, share, mean, stddev FROM jobstats_io_sizes(at(-5), at(10));
-- The same as totals.
SELECT operation, sum(calls), round(sum(share)::numeric, 3) AS share FROM jobstats_io_sizes(at(-5), at(10)) GROUP BY operation ORDER BY operation;
SELECT operation, calls FROM jobstats_totals(at(-5), at(10), 'read_bytes,write_bytes', '');

-- By target, by dimensions of entries, and by server; filters.
SELECT name, operation, source, upper, calls, share FROM jobstats_io_sizes(at(-5), at(10), 'target');
SELECT name, operation, source, sum(calls) AS calls, round(sum(share)::numeric, 3) AS share FROM jobstats_io_sizes(at(-5), at(10), 'job,uid') GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SELECT name, operation, source, upper, calls, labels FROM jobstats_io_sizes(at(-5), at(10), 'server,node', filter => 'target=*16');
SELECT operation, source, calls, mean FROM jobstats_io_sizes(at(-5), at(10), filter => 'job=8');
SELECT operation, source, calls, mean FROM jobstats_io_sizes(at(-5), at(10), filter => 'server=oss1 kind=OST uid=1000 job=8');
SELECT count(*) FROM jobstats_io_sizes(at(-5), at(10), filter => 'server=oss2');

-- A part of a reading: as much as had been reached by then if the calls were even. Two of 4096 bytes and one of 1000 from minute 1
-- to 5: in the first half one of 4096, in the second half the others. Parts add up.
SELECT upper, calls FROM jobstats_io_sizes(at(0), at(3), filter => 'target=*16');
SELECT upper, calls FROM jobstats_io_sizes(at(3), at(5), filter => 'target=*16');
-- The mean is over the parts. The standard deviation is over the readings within the window: 5, 5, 7 and 9.
SELECT calls, mean, stddev FROM jobstats_io_sizes(at(2.5), at(10), filter => 'target=*14');
SELECT calls, mean, stddev FROM jobstats_io_sizes(at(2.5), at(7.5), filter => 'target=*14');

-- Squares that can have wrapped are not used: 262,145 writes of at most 8 MiB.
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', at(minute), ost('fs-OST0015', VARIADIC CASE WHEN minute > 0 THEN ARRAY[
    E'- job_id: 9:1:n1\n  snapshot_time: 1.0 secs.nsecs\n  start_time: ' || extract(epoch FROM at(1))::bigint || E'.0 secs.nsecs\n'
    '  write_bytes: { samples: 262145, unit: bytes, min: 1, max: 8388608, sum: 2199023255553, sumsq: 7 }\n'
    '  write: { samples: 262145, unit: usecs, min: 1, max: 1, sum: 262145, sumsq: 262145 }\n'] ELSE '{}' END)
FROM unnest(ARRAY[0, 5]) AS minute;
SELECT operation, source, calls, mean, stddev FROM jobstats_io_sizes(at(-5), at(5), filter => 'job=9');

-- A row that is divided has parts without a whole call. One call of 10 MB; ten calls of 10 MB, 4 KiB and 64 KiB in three readings; and, in an
-- hour, two of 4 KiB and one of 1 MiB.
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', at(t.minute), ost(t.target, VARIADIC CASE WHEN t.writes IS NULL THEN '{}' ELSE ARRAY[calls(t.prints, t.job || ':1000:n1', at(t.start), '{}', t.writes::numeric[])] END)
FROM (VALUES ('fs-OST0024', 18, 'squares', '10', 16, '{}'), ('fs-OST0024', 22, 'squares', '10', 16, '{10000000}'),
    ('fs-OST0034', 15, 'squares', '11', 0, NULL), ('fs-OST0034', 18, 'squares', '11', 16, '{10000000,4096,4096,4096}'),
    ('fs-OST0034', 22, 'squares', '11', 16, '{10000000,4096,4096,4096,10000000}'),
    ('fs-OST0034', 28, 'squares', '11', 16, '{10000000,4096,4096,4096,10000000,65536,65536,65536,65536,65536}'),
    ('fs-OST0026', 20, 'hist', '12', 16, '{}'), ('fs-OST0026', 80, 'hist', '12', 16, '{4096,4096,1048576}')) AS t (target, minute, prints, job, start, writes);
SELECT e.job, minute(i.until), i.write, i.write_bytes, i.write_bytes_hist[13] AS "4K", i.write_bytes_hist[21] AS "1M"
FROM jobstats.increments_rows i JOIN jobstats.entries e USING (entry_id) WHERE e.job IN ('10', '12') ORDER BY 1, 2;
SELECT name, source, upper, calls, mean, stddev FROM jobstats_io_sizes(at(10), at(90), 'job', filter => 'target=*24,*34,*26');

-- Users by name, also where rollups by user could answer another question: only increments have sizes.
INSERT INTO jobstats.users VALUES (1000, 'ada');
CALL jobstats_maintain();
SELECT operation, sum(calls) AS calls FROM jobstats_io_sizes(at(-10), at(10), filter => 'user=ada') GROUP BY operation ORDER BY operation;
SELECT operation, calls FROM jobstats_totals(at(-10), at(10), 'read_bytes,write_bytes', '', filter => 'uid=1000');

-- What does not exist or makes no sense.
SELECT * FROM jobstats_io_sizes(at(0), at(10), filter => 'job=6');
SELECT * FROM jobstats_io_sizes(at(0), at(0));
SELECT * FROM jobstats_io_sizes(at(0), at(10), 'size');
SET client_min_messages = warning;
SELECT count(*) FROM jobstats_io_sizes(NULL, NULL, NULL);
DROP SCHEMA jobstats CASCADE;
SELECT * FROM jobstats_io_sizes();
