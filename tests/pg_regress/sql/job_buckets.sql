-- jobstats_job_usage() describes the rates of a job by its ten-minute buckets.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'

-- Rates of buckets of ten minutes, the first and the last as far as the job reaches: minutes 0 to 10, 10 to 20, 20 to 30 and 30 to 35.
-- OST0001 is not observed from minute 20 to 30, where the job is idle elsewhere.
DO $$ BEGIN
    PERFORM observe('scratch-OST0000', 'oss1', VARIADIC ARRAY(SELECT generate_series(0, 40, 5)));
    PERFORM observe('scratch-OST0001', 'oss1', 0, 10, 20);
    PERFORM observe('scratch-OST0001', 'oss1', 30, 40);
    UPDATE jobstats.observations SET since = NULL WHERE "time" = at(30) AND server = 'oss1'
        AND target_id = (SELECT target_id FROM jobstats.targets WHERE name = 'scratch-OST0001');
    PERFORM jobstats_internal.note_spans('-infinity', 'infinity');
    PERFORM act('scratch-OST0000', '1:1000:n01', 0, 5, '{"write": 300}');
    PERFORM act('scratch-OST0000', '1:1000:n02', 5, 10, '{"write": 600}');
    PERFORM act('scratch-OST0000', '1:1000:n01', 10, 15, '{"write": 60}');
    PERFORM act('scratch-OST0001', '1:1000:n01', 10, 20, '{"write": 1200}');
    PERFORM act('scratch-OST0000', '1:1000:n01', 30, 35, '{"write": 300}');
END $$;
SELECT name, operation, total, rate, min_rate, median_rate, max_rate, coverage FROM jobstats_job_usage('1') WHERE operation = 'write';
SELECT name, operation, total, min_rate, median_rate, max_rate FROM jobstats_job_usage('1', 'node') WHERE operation = 'write';
-- Buckets lie at full ten minutes, whatever the window is: minutes 5 to 10 and 10 to 12.
SELECT total, min_rate, median_rate, max_rate FROM jobstats_job_usage('1', '', since => at(5), until => at(12)) WHERE operation = 'write';

-- Where a target was not read for hours, buckets are hours: 120 to 180 and 180 to 190.
DO $$ BEGIN
    PERFORM observe('scratch-OST0002', 'oss1', 100, 120, 190);
    PERFORM act('scratch-OST0002', '2:1000:n01', 120, 180, '{"write": 3600}');
    PERFORM act('scratch-OST0002', '2:1000:n01', 180, 190, '{"write": 60}');
END $$;
SELECT total, min_rate, median_rate, max_rate FROM jobstats_job_usage('2', '') WHERE operation = 'write';

-- A job that lies in one bucket has its rate.
DO $$ BEGIN
    PERFORM act('scratch-OST0000', '3:1000:n01', 21, 22, '{"write": 60}');
END $$;
SELECT total, rate, min_rate, median_rate, max_rate FROM jobstats_job_usage('3', '') WHERE operation = 'write';
