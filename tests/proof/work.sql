-- Compares a table of known usage (:table, as tests/proof/work.csv) with the answers of the reading functions in every case, each of which
-- is a cluster. Ends with an error if anything differs.
\set QUIET on
\set ON_ERROR_STOP on
SET client_min_messages = warning;
\pset footer off
CREATE TEMP TABLE work (job text, uid bigint, node text, target text, operation text, calls numeric, bytes numeric, usecs numeric,
    "from" timestamptz, until timestamptz);
\set copy '\\copy work FROM ' :'table' ' (FORMAT csv, HEADER)'
:copy

-- The true usage: calls, bytes, and service time, which is reported since Lustre 2.14.
CREATE TEMP TABLE done AS
SELECT job, uid, node, target, counted.operation, sum(counted.amount) AS done, counted.operation LIKE '%\_time' AS is_time
FROM work, LATERAL (VALUES (operation, calls), (operation || '_bytes', bytes), (operation || '_time', calls * usecs / 1000000))
    AS counted (operation, amount)
WHERE counted.amount > 0
GROUP BY job, uid, node, target, counted.operation;
CREATE TEMP TABLE asked AS
SELECT min("time") AS since, max("time") AS until, (SELECT string_agg(DISTINCT operation, ',') FROM done) AS operations
FROM jobstats.observations;

-- The answers: of each job, user and node on each target, and the total of each job.
\set dims 'jsonb_to_record(r.labels) AS d (cluster text, target text, job text, uid bigint, node text)'
CREATE TEMP TABLE answers AS
WITH answers AS (
    SELECT 'totals' AS function, d.cluster, d.job, d.uid, d.node, d.target, r.operation, r.total AS answer
    FROM asked, jobstats_totals(since, until, operations, 'cluster,target,job,uid,node') r, :dims
    UNION ALL
    SELECT 'rates', d.cluster, d.job, d.uid, d.node, d.target, r.operation,
        -- coverage is rounded down to four decimals.
        CASE WHEN r.total BETWEEN r.rate * r.seconds * r.coverage * 0.999999 AND r.rate * r.seconds * (r.coverage + 0.0001) * 1.000001 THEN r.total END
    FROM asked, jobstats_rates(since, until, operations, 'cluster,target,job,uid,node') r, :dims
    UNION ALL
    SELECT 'top', d.cluster, d.job, d.uid, d.node, d.target, r.operation, r.total
    FROM asked, string_to_table(operations, ',') AS operation,
        jobstats_top(since, until, operation, 'cluster,target,job,uid,node', 1000000) r, :dims
    UNION ALL
    SELECT 'summary', d.cluster, d.job, d.uid, d.node, d.target, v.operation, v.total
    FROM asked, jobstats_summary(since, until, 'cluster,target,job,uid,node') r, :dims,
        LATERAL (VALUES ('read_bytes', r.read_bytes), ('write_bytes', r.write_bytes), ('read', r.read),
            ('write', r.write), ('open', r.opens)) AS v (operation, total)
    UNION ALL
    SELECT 'job', d.cluster, j.job, j.uid, 'all', d.target, r.operation, r.total
    FROM asked, (SELECT DISTINCT job, uid FROM work) AS j, jobstats_job_usage(j.job, 'cluster,target') r, :dims
    WHERE r.operation = ANY (string_to_array(operations, ',')) AND d.target IS NOT NULL
)
SELECT * FROM answers WHERE answer <> 0;

-- The expected answers.
CREATE TEMP TABLE expected AS
WITH cases AS (SELECT DISTINCT cluster, cluster ~ '^2\.(5|12) ' AS has_no_times FROM jobstats.targets)
SELECT f.function, c.cluster, d.job, d.uid, d.node, d.target, d.operation, d.done
FROM cases c, done d, unnest('{totals,rates,top,summary}'::text[]) AS f (function)
WHERE NOT (d.is_time AND c.has_no_times)
    AND (f.function <> 'summary' OR d.operation = ANY ('{read_bytes,write_bytes,read,write,open}'))
UNION ALL
SELECT 'job', c.cluster, d.job, d.uid, 'all', d.target, d.operation, sum(d.done)
FROM cases c, done d WHERE NOT d.is_time
GROUP BY c.cluster, d.job, d.uid, d.target, d.operation;

CREATE TEMP TABLE compared AS
SELECT function, cluster, job, uid, node, target, operation, done, answer, answer IS NOT DISTINCT FROM done AS is_exact
FROM expected FULL JOIN answers USING (function, cluster, job, uid, node, target, operation);
CREATE FUNCTION pg_temp.exact(cases bigint, exact bigint) RETURNS text LANGUAGE sql AS $$
SELECT CASE WHEN cases > 0 THEN format('%s of %s', exact, cases) END
$$;

\echo
\echo 'Who did what, and in how many cases (a layout read at an interval) each function answers exactly that:'
SELECT job, uid, node, target, operation, done,
    pg_temp.exact(count(*) FILTER (WHERE function = 'totals'), count(*) FILTER (WHERE function = 'totals' AND is_exact))
        AS jobstats_totals,
    pg_temp.exact(count(*) FILTER (WHERE function = 'rates'), count(*) FILTER (WHERE function = 'rates' AND is_exact))
        AS jobstats_rates,
    pg_temp.exact(count(*) FILTER (WHERE function = 'top'), count(*) FILTER (WHERE function = 'top' AND is_exact))
        AS jobstats_top,
    pg_temp.exact(count(*) FILTER (WHERE function = 'summary'), count(*) FILTER (WHERE function = 'summary' AND is_exact))
        AS jobstats_summary,
    pg_temp.exact(count(*) FILTER (WHERE function = 'job'), count(*) FILTER (WHERE function = 'job' AND is_exact))
        AS jobstats_job_usage
FROM compared GROUP BY job, uid, node, target, operation, done
ORDER BY job, nullif(node, 'all') NULLS LAST, target, operation;

SELECT NOT bool_and(is_exact) AS differ FROM compared \gset
\if :differ
SELECT cluster AS "case", function, job, node, target, operation, done, answer
FROM compared WHERE NOT is_exact ORDER BY 1, 2, 3, 4, 5, 6;
\endif
DO $$
BEGIN
    ASSERT (SELECT count(*) > 0 FROM compared), 'nothing was compared';
    ASSERT (SELECT bool_and(is_exact) FROM compared), 'the answers differ from what was done';
END
$$;
