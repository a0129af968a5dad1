-- Names of jobs that differ in their numbers alone are folded to one.
CREATE EXTENSION jobstats;
\pset null NULL

SELECT name, jobstats_internal.fold(name) AS folded
FROM unnest(ARRAY['task_17', 'task_00018', '17', 'nf-ALIGN_(sample-003)', 'md_T300_p1.5', 'cromwell_3f9a_align', 'relax', '#', '',
    'mécanique²_٣_7', E'two\nlines 2', NULL]) name;

-- The examples of the page.
SELECT jobstats_internal.fold('task_17') AS number, jobstats_internal.fold(regexp_replace('cromwell_3f9ab21c_align', '_[0-9a-f]{8}_', '_0_')) AS hexadecimal;
SELECT jobstats_setup() IS NOT NULL AS store;
INSERT INTO jobstats.jobs (scheduler, job, label, started, ended, uid, user_name, job_name, source, updated)
SELECT 'puhti', n::text, n::text, now() - interval '2 hours', now() - interval '1 hour', 1000, 'anna', 'task_' || n, 'slurm', now() FROM generate_series(1, 3) n;
SELECT user_name, jobstats_internal.fold(job_name) AS jobs, count(*), sum(ended - started) AS ran
FROM jobstats.jobs
WHERE ended > now() - interval '1 day'
GROUP BY 1, 2
ORDER BY ran DESC NULLS LAST
LIMIT 10;

-- It can be the expression of an index.
CREATE TABLE tasks (name text);
CREATE INDEX ON tasks (jobstats_internal.fold(name));

-- Folding again changes nothing, and an argument of a megabyte is the longest.
SELECT count(*) FROM jobstats.jobs WHERE jobstats_internal.fold(jobstats_internal.fold(job_name)) <> jobstats_internal.fold(job_name);
SELECT length(jobstats_internal.fold(repeat('a1', 500000)));
\set VERBOSITY sqlstate
SELECT jobstats_internal.fold(repeat('1', 1100000));
\set VERBOSITY default

-- Everybody may call it.
CREATE ROLE regress_of_fold;
SET ROLE regress_of_fold;
SELECT jobstats_internal.fold('task_17');
RESET ROLE;
DROP ROLE regress_of_fold;
