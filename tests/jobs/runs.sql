-- Compares jobstats.jobs with the truth of the simulator on stdin, field by field.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE TEMPORARY TABLE truth (line jsonb);
\copy truth FROM pstdin WITH (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02')

-- Exceptions that a text cannot express exactly (docs/sources.md): a row of sacct with a separator in a name has too many fields; a line of
-- Grid Engine may have two places where the number of the job can be; for a job deleted before it began PBS has only the number.
CREATE TEMPORARY VIEW expected AS
SELECT to_jsonb(j) - '{extra,updated,provenance}'::text[] AS run, t.line ->> 'oddity' AS oddity
FROM truth t, jsonb_populate_record(NULL::jobstats.jobs, t.line - '{extra,updated,provenance}'::text[]) j
WHERE t.line ->> 'kind' = 'run' AND t.line ->> 'shown' IS NOT NULL;
CREATE TEMPORARY VIEW found AS
SELECT to_jsonb(j) - '{extra,updated,provenance}'::text[] AS run FROM jobstats.jobs j;

CREATE TEMPORARY TABLE differences AS
SELECT 'missing' AS kind, e.run, e.oddity
FROM expected e
WHERE NOT EXISTS (SELECT FROM found f WHERE f.run = e.run)
    -- Apart, as one condition with OR would compare every run with every other.
    AND NOT EXISTS (
        SELECT FROM found f
        WHERE :'scheduler' = 'pbs' AND e.run ->> 'state' = 'deleted' AND f.run - 'state' = e.run - 'state')
    AND (:'scheduler', coalesce(e.oddity, '')) NOT IN (('slurm', 'delimiter'), ('gridengine', 'delimiters'))
UNION ALL
SELECT 'invented', f.run, NULL
FROM found f
WHERE NOT EXISTS (SELECT FROM expected e WHERE e.run = f.run)
    AND NOT EXISTS (
        SELECT FROM expected e
        WHERE :'scheduler' = 'pbs' AND e.run ->> 'state' = 'deleted' AND f.run - 'state' = e.run - 'state');
SELECT kind, oddity, run FROM differences ORDER BY run ->> 'job', run ->> 'label', kind LIMIT 20;
SELECT format('%s: %s runs of %s jobs, %s rejects, %s differences', :'scheduler', (SELECT count(*) FROM found),
    (SELECT count(DISTINCT run ->> 'job') FROM found), (SELECT count(*) FROM jobstats.rejects), (SELECT count(*) FROM differences));
DO $$ BEGIN
    ASSERT (SELECT count(*) FROM jobstats.jobs) > 300, 'hardly anything was stored';
    ASSERT NOT EXISTS (SELECT FROM differences), 'jobs differ from what was accounted for';
END $$;
