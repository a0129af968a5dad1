-- Compares jobstats.jobs with the rows of the accounting file on stdin, of which awk has read the started jobs.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE TEMPORARY TABLE truth (line jsonb);
\copy truth FROM pstdin WITH (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02')

CREATE TEMPORARY VIEW expected AS
SELECT job, concat(job, '.' || nullif(task, 0)) AS label, submitted, started, ended, user_name, group_name, nullif(account, 'sge') AS account,
    partition, slots AS cpus, job_name
FROM truth t, jsonb_to_record(t.line) AS run (job text, task bigint, submitted bigint, started bigint, ended bigint, user_name text,
    group_name text, account text, partition text, slots bigint, job_name text)
WHERE started > 0;
CREATE TEMPORARY VIEW found AS
SELECT job, label, extract(epoch FROM submitted)::bigint AS submitted, extract(epoch FROM started)::bigint AS started,
    extract(epoch FROM ended)::bigint AS ended, user_name, group_name, account, partition, cpus, job_name
FROM jobstats.jobs
WHERE started IS NOT NULL;

CREATE TEMPORARY TABLE differences AS
(SELECT 'missing' AS kind, * FROM expected EXCEPT ALL SELECT 'missing', * FROM found)
UNION ALL
(SELECT 'invented', * FROM found EXCEPT ALL SELECT 'invented', * FROM expected);
SELECT row_to_json(d) FROM differences d ORDER BY job, label, kind;
SELECT target, line, reason FROM jobstats.rejects;

DO $$ BEGIN
    ASSERT NOT EXISTS (SELECT FROM differences), 'jobs differ from those of the accounting file';
    ASSERT NOT EXISTS (SELECT FROM jobstats.rejects), 'there are rejects';
    ASSERT (SELECT array_agg(DISTINCT job) FROM jobstats.jobs) = (SELECT array_agg(DISTINCT line ->> 'job') FROM truth), 'jobs are missing';
END $$;
SELECT count(*) AS runs, count(DISTINCT job) AS jobs, count(*) FILTER (WHERE label LIKE '%.%') AS tasks, string_agg(DISTINCT user_name, ', ') AS users
FROM found;
