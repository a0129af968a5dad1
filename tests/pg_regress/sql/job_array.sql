-- An array is one job by its number, and an element is a job by its label.
\i reading.sql
\set ECHO all
\set VERBOSITY default
\pset null '(null)'
SELECT jobstats_setup(retention => '100 years', raw_retention => '100 years', compress_after => '100 years') IS NOT NULL AS ready;
UPDATE jobstats.settings SET jobs_retention = '100 years';

-- Slurm gives the last element to run the number of the array. In PBS, numbers have an index. 10003 and 38 of another scheduler are no elements.
SELECT i.action FROM jobstats_ingest('', 'slurm', at(60), source => 'slurm',
    body => (SELECT translate(E'JobIDRaw|JobID|Cluster|Submit|Start|End|UID|User|Account|State|NNodes\n' || string_agg(concat_ws('|', r.job, r.label, 'alpha',
            extract(epoch FROM at(0))::bigint, extract(epoch FROM at(r.started))::bigint, extract(epoch FROM at(r.ended))::bigint, 1000, 'ada', 'physics', r.state, 1) || E'\n', ''), '|', chr(31))
        FROM (VALUES ('1000338', '1000328_10', 0, 10, 'COMPLETED'), ('1000339', '1000328_11', 0, 30, 'FAILED'), ('1000328', '1000328_12', 10, 20, 'COMPLETED'),
            ('10003', '10003', 0, 10, 'COMPLETED')) AS r (job, label, started, ended, state))) i;
INSERT INTO jobstats.jobs (scheduler, job, label, parent, submitted, started, ended, user_name, state, nodes, source, updated)
SELECT 'pbs', format('38[%s]', n), format('38[%s]', n), '38[]', at(0), at(0), at(10), 'bo', 'F', 1, 'pbs', at(60) FROM generate_series(1, 2) AS n
UNION ALL
SELECT 'lsf', '815', format('815[%s]', n), '815', at(0), at(0), at(10), 'eva', 'DONE', 1, 'lsf', at(60) FROM generate_series(1, 2) AS n;
DO $$ BEGIN
    PERFORM observe('scratch-OST0000', 'oss1', 0, 10, 20, 30);
    PERFORM act('scratch-OST0000', '1000338:1000:n01', 0, 10, '{"write": 10, "write_usecs": 300000000, "write_bytes": 1}');
    PERFORM act('scratch-OST0000', '1000339:1000:n02', 0, 30, '{"write": 10, "write_usecs": 900000000, "write_bytes": 20}');
    PERFORM act('scratch-OST0000', '1000328:1000:n01', 10, 20, '{"write": 10, "write_usecs": 600000000, "write_bytes": 300}');
    PERFORM act('scratch-OST0000', '10003:1000:n03', 0, 10, '{"write": 10, "write_usecs": 100000000, "write_bytes": 4000}');
    PERFORM act('scratch-OST0000', '38[1]', 0, 10, '{"write": 10, "write_usecs": 100000000, "write_bytes": 50000}');
    PERFORM act('scratch-OST0000', '38[2]', 0, 10, '{"write": 10, "write_usecs": 100000000, "write_bytes": 600000}');
    PERFORM act('scratch-OST0000', '815', 0, 10, '{"write": 10, "write_usecs": 100000000, "write_bytes": 7000000}');
    PERFORM act('scratch-OST0000', '77', 0, 10, '{"write": 10, "write_usecs": 100000000, "write_bytes": 80000000}');
END $$;

SELECT job, label, runs, nodes, state, started, ended, run_time, write_bytes, service_time, in_service FROM jobstats_job('1000328');
SELECT job, label, runs, nodes, state, started, ended, run_time, write_bytes, service_time, in_service FROM jobstats_job('1000328_12');
SELECT operation, total, nodes FROM jobstats_job_usage('1000328', '') WHERE operation IN ('write_bytes', 'service_time');
SELECT operation, total, nodes FROM jobstats_job_usage('1000328_12', '') WHERE operation IN ('write_bytes', 'service_time');
\set VERBOSITY terse
SELECT asked, (SELECT j.total FROM jobstats_job_usage(asked, '') j WHERE j.operation = 'write_bytes'), (SELECT j.write_bytes FROM jobstats_job(asked) j)
FROM unnest('{1000328_11,1000339,10003,38,38[],38[2],815,815[1],77}'::text[]) AS asked;
SELECT job, since_start, operation, total FROM jobstats_compare('{1000328,1000328_12}', operations => 'write_bytes');

-- The dimension needs maintenance, which matches identifiers with fed jobs. Usage without an array is a separate group.
CALL jobstats_maintain();
SELECT total FROM jobstats_job_usage('1000328', '') WHERE operation = 'write_bytes';
-- Its labels are a filter for it.
SELECT j.job, j.write_bytes, t.total FROM unnest('{1000328,1000328_12,38,815}'::text[]) asked, jobstats_job(asked) j, jobstats_totals(at(0), at(30), 'write_bytes', '', filter => j.labels) t;
SELECT name, total FROM jobstats_totals(at(0), at(30), 'write_bytes', 'job_group') ORDER BY total;
SELECT name, total FROM jobstats_totals(at(0), at(30), 'write_bytes', 'job', filter => 'job_group=1000328') ORDER BY total;
