-- jobstats_job() tells of the whole job first, then of its targets, nodes or steps.
\getenv source PG_ABS_SRCDIR
\set reading :source '/include/reading.sql'
\set ECHO none
\i :reading
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
SELECT * FROM jobstats_job('4711', by => '{}') \gx
SELECT cluster, filesystem, kind, target, node, operation, total, nodes, rate, coverage FROM jobstats_job('4711');
SELECT kind, target, node, operation, total, nodes FROM jobstats_job('4711', by => '{kind}') WHERE kind IS NOT NULL;

-- By node: what is of no known node is in the rows of the whole job alone.
SELECT target, node, operation, total, calls, nodes, rate, coverage FROM jobstats_job('4711', by => '{node}');
SELECT target, node, operation, total FROM jobstats_job('4711', by => '{target,node}') WHERE operation IN ('open', 'write_bytes');

-- Its course, in steps from the beginning of the window. A row that crosses an edge is divided.
SELECT "time", seconds, target, operation, total, rate, first, last_active, coverage
FROM jobstats_job('4711', step => '10 minutes') WHERE operation IN ('open', 'write_bytes');
SELECT "time", seconds, node, operation, total, first, last_active
FROM jobstats_job('4711', at(0), at(20), '15 minutes', '{node}') WHERE operation = 'open';
-- Rates and coverage are those of jobstats_rates().
SELECT count(*) FROM jobstats_job('4711', at(0), at(30), '10 minutes', '{}') j
JOIN jobstats_rates(at(0), at(30), '{open,write_bytes,metadata}', '{}', '10 minutes', job => '{4711}') r USING ("time", seconds, operation, rate, coverage);
SELECT count(*) FROM jobstats_job('4711', at(0), at(30), '10 minutes', '{node}') j
JOIN jobstats_rates(at(0), at(30), '{open,write_bytes,metadata}', '{node}', '10 minutes', job => '{4711}') r USING ("time", seconds, node, operation, rate, coverage);

-- A number names a job as well as a text does; NULL are the defaults.
SELECT count(*), count(*) FILTER (WHERE target IS NULL) AS whole FROM jobstats_job(4711);
SELECT count(*) FROM (SELECT * FROM jobstats_job(4711, at(0), at(30), '5 minutes', '{node}')
    EXCEPT ALL SELECT * FROM jobstats_job('4711', at(0), at(30), '5 minutes', '{node}')) changed;
SELECT count(*) FROM jobstats_job('4711', NULL, NULL, NULL, NULL);

-- What makes no sense.
SELECT * FROM jobstats_job('4711', by => '{server}');
SELECT * FROM jobstats_job('4711', by => '{NULL}');
SELECT * FROM jobstats_job('4711', step => '0');
SELECT * FROM jobstats_job('4711', step => '1 microsecond');
SELECT * FROM jobstats_job(NULL::bigint);
