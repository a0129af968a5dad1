-- Compares jobstats.jobs with the job table of slurmdbd on stdin. Of a job that never ran, accounting has the number of the job or the
-- array alone, so only runs are compared. `person` is the user who read, if that is one who sees only the jobs of that user.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE TEMPORARY TABLE truth (line jsonb);
\copy truth FROM pstdin WITH (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02')

CREATE TEMPORARY VIEW expected AS
SELECT run.*
FROM truth t, jsonb_to_record(t.line) AS run (job text, label text, submitted bigint, started bigint, ended bigint, uid bigint, user_name text,
    gid bigint, account text, partition text, state text, nodes bigint, node_list text, job_name text)
WHERE :'person' IN ('', run.user_name);
CREATE TEMPORARY VIEW found AS
SELECT job, label, extract(epoch FROM submitted)::bigint AS submitted, extract(epoch FROM started)::bigint AS started,
    extract(epoch FROM ended)::bigint AS ended, uid, user_name, gid, account, partition, split_part(state, ' by ', 1) AS state, nodes,
    node_list, job_name
FROM jobstats.jobs
WHERE scheduler = 'puhti' AND started IS NOT NULL;

CREATE TEMPORARY TABLE differences AS
(SELECT 'missing' AS kind, * FROM expected EXCEPT ALL SELECT 'missing', * FROM found)
UNION ALL
(SELECT 'invented', * FROM found EXCEPT ALL SELECT 'invented', * FROM expected);
SELECT row_to_json(d) FROM differences d ORDER BY job, label, kind;
SELECT target, line, reason FROM jobstats.rejects;

DO $$ BEGIN
    ASSERT NOT EXISTS (SELECT FROM differences), 'jobs differ from those of slurmdbd';
    ASSERT NOT EXISTS (SELECT FROM jobstats.rejects), 'there are rejects';
END $$;
SELECT CASE WHEN :'person' = '' THEN 'all users' ELSE 'only ' || :'person' END AS who, count(*) AS runs, count(DISTINCT job) AS jobs,
    count(*) FILTER (WHERE label LIKE '%\_%') AS elements, count(*) FILTER (WHERE label LIKE '%+%') AS components,
    count(*) FILTER (WHERE job_name = 'requeued') AS requeued, string_agg(DISTINCT user_name, ', ') AS users
FROM found;
