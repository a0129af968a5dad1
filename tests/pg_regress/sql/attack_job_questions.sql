-- What hostile accounting, and hostile arguments, do to questions about a job and to its summary: they cost no more than other questions, and
-- nobody else's jobs.
\getenv source PG_ABS_SRCDIR
\set reading :source '/include/reading.sql'
\set ECHO none
\i :reading
\set ECHO all
\set VERBOSITY terse
SET statement_timeout = '10min';
DO $$ BEGIN
    PERFORM jobstats_setup(retention => '100 years', compress_after => '100 years');
    PERFORM observe('scratch-OST0000', 'oss1', 0, 10, 20, 30);
    PERFORM act('scratch-OST0000', id || ':1000:n01', 0, 10, '{"write": 10, "write_usecs": 600000000}') FROM unnest('{1,2,3}'::text[]) AS id;
END $$;

-- Runs from 1970 to 2199, of no time, that end before they begin, without an end or of no nodes; of a scheduler whose name is an escape sequence.
INSERT INTO jobstats.jobs (scheduler, job, label, submitted, started, ended, user_name, state, nodes, cpus, source, updated) VALUES
    ('s', '1', '1', '1970-01-01 00:00:01', '1970-01-01 00:00:01', '2199-12-31 23:59:59', 'eve', 'COMPLETED', 9223372036854775807, 9223372036854775807, 'slurm', now()),
    (E's\x1b[31m', '2', '2', at(0), at(0), at(0), 'eve', 'COMPLETED', 0, -1, 'slurm', now()),
    ('s', '2', '2', at(30), at(30), at(0), 'eve', 'COMPLETED', 1, 1, 'slurm', now()),
    ('s', '4', '%', at(0), at(0), at(10), 'eve', 'COMPLETED', 1, 1, 'slurm', now()),
    ('s', '5', '_', at(0), at(0), at(10), 'eve', 'COMPLETED', 1, 1, 'slurm', now()),
    ('s', '3', '\', at(0), at(0), at(10), 'ada', 'COMPLETED', 1, 1, 'slurm', now());
SELECT operation, run_time, in_service FROM jobstats_job('1', by => '{}');
SELECT operation, run_time, in_service FROM jobstats_job('1', at(0), at(10), by => '{}');
SELECT operation, replace(scheduler, E'\x1b', '?') AS scheduler, run_time, in_service FROM jobstats_job('2', by => '{}');
SELECT count(*) FROM jobstats_compare('{1}', '1 hour');
SELECT since_start, seconds, rate FROM jobstats_compare('{2,1}', NULL, '{write}');
-- A label is no pattern.
SELECT operation, label FROM jobstats_job('%', by => '{}');
SELECT operation, label FROM jobstats_job('_', by => '{}');
SELECT operation, label FROM jobstats_job('\', by => '{}');
SELECT count(*) FROM jobstats_compare('{%,_}', NULL);

-- Very many runs with long names: the last ten thousand count. Other jobs are as before.
INSERT INTO jobstats.jobs (scheduler, job, label, started, ended, user_name, job_name, state, nodes, source, updated)
SELECT 's', '6', format('6[%s]', n), at(0) + n * interval '1 second', at(10) + n * interval '1 second', 'eve' || n % 3, repeat(md5(n::text), 100), 'DONE', 1, 'lsf', now()
FROM generate_series(1, 30000) AS n;
SELECT count(*), min(started) = at(0) + interval '29001 seconds' AS are_last FROM jobstats_job('6');
SELECT operation, user_name, in_service FROM jobstats_job('3', by => '{}');
SELECT count(*) FROM jobstats_compare(ARRAY(SELECT '6[' || n || ']' FROM generate_series(1, 3) AS n), NULL, '{write}');

-- Maintenance sums up what is done, whatever the times are, and stops at nothing.
INSERT INTO jobstats.to_match (job) SELECT DISTINCT j.job FROM jobstats.jobs j;
CALL jobstats_maintain();
SELECT DISTINCT step, problem FROM jobstats.maintenance WHERE problem IS NOT NULL OR step = 'summaries';
SELECT job, label, replace(scheduler, E'\x1b', '?') AS scheduler, runs, run_time, service_time, in_service FROM jobstats.job_summaries ORDER BY job, scheduler, runs;
SELECT job, due FROM jobstats.to_summarize q JOIN jobstats.job_ids i USING (job_no);

-- Readers read them, and nobody else does.
CREATE ROLE regress_reading;
CREATE ROLE regress_nothing;
DO $$ BEGIN PERFORM jobstats_grant_reader('regress_reading'); END $$;
GRANT USAGE ON SCHEMA world TO regress_reading, regress_nothing;
SET ROLE regress_reading;
SELECT count(*) > 0 AS rows FROM jobstats.job_summaries;
SELECT count(*) FROM jobstats_compare('{3}', NULL, '{write}');
DELETE FROM jobstats.job_summaries;
SELECT jobstats_internal.summarize_some();
SELECT jobstats_internal.queue_changed_summaries();
SET ROLE regress_nothing;
SELECT count(*) FROM jobstats.job_summaries;
SELECT count(*) FROM jobstats_compare('{3}', NULL, '{write}');
SELECT count(*) FROM jobstats_job('3');
RESET ROLE;
DROP OWNED BY regress_reading, regress_nothing;
DROP ROLE regress_reading, regress_nothing;
