-- jobstats_job_usage(): usage of one job, as a whole and on its targets.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'


-- An array job on two nodes, which reads, computes and writes; others like it in name are not it.
DO $$ BEGIN
    PERFORM observe('scratch-MDT0000', 'mds1', VARIADIC ARRAY(SELECT generate_series(0, 60, 5)));
    PERFORM observe('scratch-OST0000', 'oss1', VARIADIC ARRAY(SELECT generate_series(1, 61, 5)));
    PERFORM observe('scratch-OST0001', 'oss1', 1, 6, 11, 31, 36);
    PERFORM act('scratch-MDT0000', '4711_1:1000:n01', 5, 10, '{"open": 20, "open_usecs": 4000, "close": 4, "close_usecs": 40}');
    PERFORM act('scratch-MDT0000', '4711_1:1000:n02', 5, 10, '{"open": 10, "open_usecs": 2000}');
    PERFORM act('scratch-OST0000', '4711_1:1000:n01', 6, 11, '{"read_bytes": 40960000, "read": 40, "read_usecs": 80000, "getattr": 3}');
    PERFORM act('scratch-OST0001', '4711_1:1000:n02', 6, 11, '{"read_bytes": 4096, "read": 1, "read_usecs": 80}');
    PERFORM act('scratch-OST0001', '4711_1:1000:n02', 31, 36, '{"write_bytes": 3600000, "write": 90, "write_usecs": 9000, "last_active": "2025-11-03 08:34:56+00"}');
    PERFORM act('scratch-MDT0000', '4711_1:1000:n01', 35, 40, '{"close": 16, "close_usecs": 160}');
    PERFORM act('scratch-MDT0000', '4711x1:1000:n01', 0, 60, '{"open": 999}');
    PERFORM act('scratch-MDT0000', '4711_12:1000:n01', 0, 60, '{"open": 999}');
END $$;

-- From its first row to its last: minute 5 to minute 40. OST0001 was not observed in the last four of these. First the whole job.
SELECT name, operation, total, calls, per_call, nodes
FROM jobstats_job_usage('4711_1');
SELECT name, operation, rate, first, last_active, coverage FROM jobstats_job_usage('4711_1');
-- All columns, of a part of the job.
SELECT * FROM jobstats_job_usage('4711_1', since => at(8), until => at(33)) WHERE name ~ 'OST' AND operation ~ 'bytes' \gx
SELECT DISTINCT name, total, first, coverage FROM jobstats_job_usage('4711_1', since => at(20)) WHERE operation IN ('close', 'write') AND name <> 'all';
SELECT DISTINCT name, total, last_active FROM jobstats_job_usage('4711_1', until => at(20)) WHERE operation IN ('close', 'read') AND name <> 'all';

-- The numbers equal totals and rates.
SELECT name, operation FROM (SELECT * FROM jobstats_job_usage('4711_1', since => at(0), until => at(60)) WHERE name <> 'all') j
FULL JOIN jobstats_totals(at(0), at(60), NULL, 'target', filter => 'job=4711_1') t USING (name, operation, formatted, total, calls, labels)
WHERE j.operation IS NULL AND total <> 0 OR t.coverage IS DISTINCT FROM j.coverage AND j.operation <> 'service_time';
SELECT count(*) FROM jobstats_job_usage('4711_1', since => at(0), until => at(60)) j
JOIN jobstats_rates(at(0), at(60), 'open,close,read_bytes,service_time', 'target', filter => 'job=4711_1') r USING (name, operation, rate, total, calls, coverage);
SELECT j.operation FROM jobstats_job_usage('4711_1', '', since => at(0), until => at(60)) j
FULL JOIN jobstats_totals(at(0), at(60), NULL, '', filter => 'job=4711_1') t USING (operation, total, calls, coverage)
WHERE (j.operation IS NULL OR t.operation IS NULL) AND operation <> 'service_time';

-- An unknown job, and a job that was idle then.
SELECT * FROM jobstats_job_usage('4711');
SELECT * FROM jobstats_job_usage('47__\_1');
SELECT * FROM jobstats_job_usage('');
SELECT * FROM jobstats_job_usage('4711_1', since => at(50));
SELECT * FROM jobstats_job_usage('4711_1', since => at(50), until => at(60));

-- Of an old server no times; of operations that have no column no rows.
DO $$ BEGIN
    PERFORM observe('old-OST0000', 'oss9', 0, 5);
    PERFORM act('old-OST0000', '12:1000:n01', 0, 5, '{"write_bytes": 7, "write": 1, "detail": "\\x00066675747572650803"}');
END $$;
SELECT name, operation, total, calls, per_call, rate, nodes, coverage FROM jobstats_job_usage('12', '');

-- The same job in two clusters: names of targets repeat, too.
DO $$ BEGIN
    PERFORM observe('b', 'old-OST0000', 'oss9', ARRAY[at(0), at(5)]);
    PERFORM act('b', 'old-OST0000', '12:1000:n01', at(2), at(5), '{"write_bytes": 90, "write": 1}');
END $$;
SELECT name, operation, total, first, coverage, labels FROM jobstats_job_usage('12', 'cluster,target');
SELECT name, operation, total, labels FROM jobstats_job_usage('12', 'target') WHERE operation = 'write_bytes';

-- Rows of text that came late begin before the job was first seen.
UPDATE jobstats.entries SET first_seen = at(40) WHERE job = '4711_1';
SELECT min(first) FROM jobstats_job_usage('4711_1');
-- So do observations that cover a long time.
DO $$ BEGIN
    PERFORM observe('archive-OST0000', 'oss9', -10000, 100);
    PERFORM act('archive-OST0000', '13:1000:n01', -9960, -9900, '{"read": 7}');
    PERFORM act('archive-OST0000', '13:1000:n01', 60, 100, '{"read": 7}');
END $$;
UPDATE jobstats.entries SET first_seen = at(100) WHERE job = '13';
SELECT name, operation, total, first, last_active FROM jobstats_job_usage('13');

-- What makes no sense.
SELECT * FROM jobstats_job_usage(NULL);
SELECT * FROM jobstats_job_usage('12', since => at(5), until => at(0));
SELECT * FROM jobstats_job_usage('4711_1', since => at(50), until => at(50));
SELECT name, operation, total FROM jobstats_job_usage('12', since => '-infinity', until => 'infinity');
SET client_min_messages = warning;
DROP SCHEMA jobstats CASCADE;
SELECT * FROM jobstats_job_usage('12');
