-- Jobs side by side, each from its own start on.
\i reading.sql
\set ECHO all
\set VERBOSITY default
\pset null '(null)'
SELECT jobstats_setup(retention => '100 years', compress_after => '100 years') IS NOT NULL AS ready;

-- 101 is element 3 of 100; 102 has usage only; 103 only reads, from servers without times; 104 is idle.
DO $$ BEGIN
    PERFORM observe('scratch-OST0000', 'oss1', 0, 10, 20, 30, 40, 50, 60, 70);
    PERFORM observe('scratch-MDT0000', 'mds1', 0, 10, 20, 30, 40, 50, 60, 70);
    PERFORM observe('old-OST0000', 'oss2', 0, 10, 20, 30);
    PERFORM act('scratch-OST0000', '101:1000:n01', 10, 20, '{"write": 60, "write_usecs": 600000000, "write_bytes": 600}');
    PERFORM act('scratch-OST0000', '101:1000:n02', 30, 40, '{"write": 30, "write_usecs": 300000000, "write_bytes": 1200}');
    PERFORM act('scratch-MDT0000', '101:1000:n01', 10, 20, '{"open": 600, "open_usecs": 600000}');
    PERFORM act('scratch-OST0000', '102:1000:n01', 40, 50, '{"write": 60, "write_usecs": 600000000, "write_bytes": 600}');
    PERFORM act('scratch-OST0000', '102:1000:n01', 50, 60, '{"write": 6, "write_usecs": 60000000, "write_bytes": 60}');
    PERFORM act('old-OST0000', '103:1000:n01', 10, 20, '{"read": 60, "read_bytes": 600}');
END $$;
INSERT INTO jobstats.jobs (scheduler, job, label, started, ended, state, nodes, source, updated)
SELECT 's', job, label, at(started), at(ended), 'COMPLETED', 1, 'slurm', at(70)
FROM (VALUES ('101', '100_3', 10, 35), ('103', '103', 10, 20), ('104', '104', 40, 60)) AS r (job, label, started, ended);

SELECT since_start, job, total, operation, rate, coverage, "time" FROM jobstats_compare('{100_3,102}', operations => 'write_bytes');
-- The default operations. 103 has no times; 104 is idle.
SELECT since_start, job, operation, rate, coverage FROM jobstats_compare('{103,104}', NULL);
-- Steps of other widths, down to single seconds; a job that is named twice; other targets.
SELECT since_start, rate, total FROM jobstats_compare('{101,101}', '15 minutes', 'write');
SELECT count(*), max(since_start), sum(total) AS writes FROM jobstats_compare('{101}', '1 second', 'write');
SELECT since_start, operation, rate FROM jobstats_compare('{101}', '10 minutes', 'open,open_time,metadata', filter => 'kind=MDT') WHERE rate <> 0;
SELECT since_start, rate, coverage FROM jobstats_compare('{101}', '10 minutes', 'write', filter => 'filesystem=old');
-- Loads that combine several operations.
SELECT since_start, operation, rate FROM jobstats_compare('{101}', weights => '{"write_bytes": 0.5, "open": 2, "service_time": 1}') WHERE rate <> 0;

-- The rates equal those in other functions.
SELECT c.since_start, c.rate, r.rate
FROM jobstats_compare('{101}', '10 minutes', 'write_bytes,metadata,service_time') c
FULL JOIN jobstats_rates(at(10), at(40), 'write_bytes,metadata,service_time', 'job', '10 minutes', filter => 'job=101') r
    ON r."time" = c."time" AND r.operation = c.operation
WHERE c.rate IS DISTINCT FROM coalesce(r.rate, 0);
-- Answers from rollups are the same.
CREATE TABLE before AS SELECT * FROM jobstats_compare('{101,102,103}', '7 minutes');
CALL jobstats_maintain();
SELECT count(*) AS rows, count(*) FILTER (WHERE to_jsonb(b) = to_jsonb(c)) AS same
FROM jobstats_compare('{101,102,103}', '7 minutes') c FULL JOIN before b USING (job, operation, since_start);

-- Invalid arguments, and an unknown job.
SELECT * FROM jobstats_compare('{105,101}', NULL, 'write');
SELECT * FROM jobstats_compare('{}');
SELECT * FROM jobstats_compare(NULL);
SELECT * FROM jobstats_compare('{101,NULL}');
SELECT * FROM jobstats_compare(ARRAY(SELECT n::text FROM generate_series(1, 101) AS n));
SELECT * FROM jobstats_compare('{101}', '0');
SELECT * FROM jobstats_compare('{101}', '-1 hour');
SELECT * FROM jobstats_compare('{101}', '1 month');
SELECT * FROM jobstats_compare('{101}', '10 ms');
SELECT count(*) FROM jobstats_compare('{101}', '20 ms', (SELECT string_agg(o.operation, ',') FROM jobstats_operations() o));
SELECT * FROM jobstats_compare('{101}', operations => 'opens');
SET client_min_messages = warning;
DROP SCHEMA jobstats CASCADE;
SELECT * FROM jobstats_compare('{101}');
