-- jobstats_job_usage() describes single calls by their bounds and standard deviation.
\i store.sql
\i calls.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'

-- Job 7 writes to OSTs of Lustre 2.16 and 2.14, from two nodes. Job 8 is one of 2.12. Job 9 was there before the first reading.
DO $$ BEGIN
    INSERT INTO jobstats.feed (server, "time", body) VALUES
        ('oss1', at(0), ost('fs-OST0016', calls('hist', '9:1000:n1', at(-60), '{}', '{1,100000}'))),
        ('oss1', at(0), ost('fs-OST0014')), ('oss1', at(0), ost('fs-OST0012')),
        ('oss1', at(5), ost('fs-OST0016', calls('hist', '9:1000:n1', at(-60), '{}', '{1,100000,500}'),
            calls('hist', '7:1000:n1', at(1), '{}', '{4096,4096,1000}'))),
        ('oss1', at(5), ost('fs-OST0014', calls('squares', '7:1000:n1', at(1), '{}', '{2,4,4,4}'))),
        ('oss1', at(5), ost('fs-OST0012', calls('sums', '8:1000:n2', at(1), '{10,20}', '{}'))),
        -- This reading is divided at minute 10.
        ('oss1', at(15), ost('fs-OST0016', calls('hist', '9:1000:n1', at(-60), '{}', '{1,100000,500,200000}'),
            calls('hist', '7:1000:n1', at(1), '{}', '{4096,4096,1000,1048576,5000}'),
            calls('hist', '7:1000:n2', at(6), '{}', '{8192,8192,8192}'))),
        ('oss1', at(15), ost('fs-OST0014', calls('squares', '7:1000:n1', at(1), '{}', '{2,4,4,4,5,5,7,9}'))),
        ('oss1', at(15), ost('fs-OST0012', calls('sums', '8:1000:n2', at(1), '{10,20,60}', '{}')));
END $$;
SELECT target, entry, since, until, write, write_bytes, jobstats_internal.detail(detail) -> 'write_bytes' AS detail FROM texts.increments WHERE target ~ '1[46]';

-- Sixteen writes in all. Each write takes 100 µs.
SELECT target, operation, calls, per_call, min, max, round(stddev::numeric, 6) AS stddev FROM (SELECT * FROM jobstats_job_usage('7') r, dims(r.labels)) AS jobstats_job;
SELECT target, count(*), min(size), max(size), round(stddev_pop(size), 6) AS stddev
FROM (VALUES ('fs-OST0014', '{2,4,4,4,5,5,7,9}'::numeric[]), ('fs-OST0016', '{4096,4096,1000,1048576,5000,8192,8192,8192}')) AS v (target, sizes),
    unnest(sizes) AS size
GROUP BY ROLLUP (target) ORDER BY target NULLS FIRST;
SELECT node, operation, calls, min, max, round(stddev::numeric, 6) AS stddev FROM (SELECT * FROM jobstats_job_usage('7', 'node') r, dims(r.labels)) AS jobstats_job_usage WHERE node IS NOT NULL;

-- Lustre 2.12 prints no sums of squares. Of calls before the first reading the bounds are not known.
SELECT target, operation, calls, min, max, stddev FROM (SELECT * FROM jobstats_job_usage('8') r, dims(r.labels)) AS jobstats_job_usage WHERE target IS NULL;
SELECT target, operation, calls, min, max, stddev FROM (SELECT * FROM jobstats_job_usage('9') r, dims(r.labels)) AS jobstats_job_usage WHERE target IS NULL;

-- The whole job is needed, without steps.
SELECT operation, calls, min, max, stddev, median_rate IS NULL AS has_no_buckets FROM (SELECT * FROM jobstats_job_usage('7', since => at(5)) r, dims(r.labels)) AS jobstats_job_usage WHERE target IS NULL;
SELECT operation, calls, min, max, stddev, median_rate IS NULL AS has_no_buckets FROM (SELECT * FROM jobstats_job_usage('7', step => '15 minutes', since => at(0), until => at(15)) r, dims(r.labels)) AS jobstats_job_usage WHERE target IS NULL;
SELECT operation, calls, min, max FROM (SELECT * FROM jobstats_job_usage('7', since => at(-1), until => at(15)) r, dims(r.labels)) AS jobstats_job_usage WHERE target IS NULL;
SELECT operation, calls, min, max FROM (SELECT * FROM jobstats_job_usage('7', until => at(20)) r, dims(r.labels)) AS jobstats_job_usage WHERE target IS NULL;

-- A divided row: 41 calls, one of which took a microsecond, all of it in the second part. The calls of the first part count.
DO $$ BEGIN
    INSERT INTO jobstats.feed (server, "time", body)
    SELECT 'oss1', at(minute), ost('fs-OST0014', format(E'- job_id: 11:1000:n1\n  snapshot_time: 1.0 secs.nsecs\n  start_time: %s.0 secs.nsecs\n'
        '  getattr: { samples: %s, unit: usecs, min: 0, max: %s, sum: %s, sumsq: %s }\n  read_bytes: { samples: %s, unit: bytes, min: 0, max: %s, sum: %s, sumsq: %s }\n',
        extract(epoch FROM at(16))::bigint, calls, one, one, one, calls, one, one, one))
    FROM (VALUES (28, 0, 0), (32, 41, 1)) AS reading (minute, calls, one) ORDER BY minute;
END $$;
SELECT minute(i."time"), i.getattr, i.getattr_usecs, i.read, i.read_bytes FROM jobstats.increments i JOIN jobstats.entries e USING (entry_id) WHERE e.job = '11' ORDER BY 1;
SELECT target, operation, total, calls, per_call FROM (SELECT * FROM jobstats_job_usage('11') r, dims(r.labels)) AS jobstats_job;
SELECT operation, total, calls, per_call FROM jobstats_totals(at(20), at(40), 'read_bytes,getattr,metadata,service_time', 'job', filter => 'job=11');
