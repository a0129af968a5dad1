-- jobstats_job_usage() shows the whole job first, then its targets, nodes or steps.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'

-- Half an hour on two nodes. The OST was not observed in the first ten minutes; the job has an entry without a node, too.
DO $$ BEGIN
    PERFORM observe('scratch-MDT0000', 'mds1', 0, 10, 20, 30);
    PERFORM observe('scratch-OST0000', 'oss1', 10, 20, 30);
    PERFORM act('scratch-MDT0000', '4711:1000:n01', 0, 10, '{"open": 60, "open_usecs": 6000}');
    PERFORM act('scratch-MDT0000', '4711:1000:n02', 10, 20, '{"open": 30, "open_usecs": 3000}');
    PERFORM act('scratch-OST0000', '4711:1000:n01', 10, 20, '{"write_bytes": 1200, "write": 12}');
    PERFORM act('scratch-OST0000', '4711:1000:n02', 20, 30, '{"write_bytes": 600, "write": 6}');
    PERFORM enter('4711:1001:n09');
    PERFORM act('scratch-OST0000', '4711:1001:n09', 20, 30, '{"write_bytes": 60, "write": 1}');
END $$;
UPDATE jobstats.entries SET node = NULL WHERE node = 'n09';

-- The whole job: rates are per second of its half hour that each target was observed; the OST was two thirds of it.
SELECT * FROM jobstats_job_usage('4711', '') \gx
SELECT name, operation, total, nodes, rate, coverage, labels FROM jobstats_job_usage('4711', 'cluster,filesystem,kind,target');
SELECT name, operation, total, nodes, labels FROM jobstats_job_usage('4711', 'kind') WHERE name <> 'all';

-- Filters of targets: the whole job is its usage on these.
SELECT name, total, coverage FROM jobstats_job_usage('4711', filter => 'kind=ost') WHERE operation = 'write_bytes';
SELECT * FROM jobstats_job_usage('4711', '', filter => 'cluster=none');

-- By node: usage without a known node is in the rows of the whole job only.
SELECT name, operation, total, calls, nodes, rate, coverage FROM jobstats_job_usage('4711', 'node');
SELECT name, operation, total FROM jobstats_job_usage('4711', 'target,node') WHERE operation IN ('open', 'write_bytes');

-- Its course, in steps from the beginning of the window. A row that crosses an edge is divided.
SELECT "time", name, operation, total, rate, first, last_active, coverage
FROM jobstats_job_usage('4711', step => '10 minutes') WHERE operation IN ('open', 'write_bytes');
SELECT "time", name, operation, total, first, last_active
FROM jobstats_job_usage('4711', 'node', '15 minutes', at(0), at(20)) WHERE operation = 'open';
-- Rates and coverage equal jobstats_rates().
SELECT count(*) FROM jobstats_job_usage('4711', '', '10 minutes', at(0), at(30)) j
JOIN jobstats_rates(at(0), at(30), 'open,write_bytes,metadata', '', '10 minutes', filter => 'job=4711') r USING ("time", name, operation, rate, total, calls, coverage, labels);
SELECT count(*) FROM jobstats_job_usage('4711', 'node', '10 minutes', at(0), at(30)) j
JOIN jobstats_rates(at(0), at(30), 'open,write_bytes,metadata', 'node', '10 minutes', filter => 'job=4711') r USING ("time", name, operation, rate, total, calls, coverage, labels);

-- A number names a job as well as a text does; NULL are the defaults.
SELECT count(*), count(*) FILTER (WHERE name = 'all') AS whole FROM jobstats_job_usage(4711);
SELECT count(*) FROM (SELECT * FROM jobstats_job_usage(4711, 'node', '5 minutes', at(0), at(30))
    EXCEPT ALL SELECT * FROM jobstats_job_usage('4711', 'node', '5 minutes', at(0), at(30))) changed;
SELECT count(*) FROM jobstats_job_usage('4711', NULL, NULL, NULL, NULL);

-- What makes no sense.
SELECT * FROM jobstats_job_usage('4711', 'server');
SELECT * FROM jobstats_job_usage('4711', '{NULL}');
SELECT * FROM jobstats_job_usage('4711', step => '0');
SELECT * FROM jobstats_job_usage('4711', step => '1 microsecond');
SELECT * FROM jobstats_job_usage(NULL::bigint);
