-- Work that anybody can count (:table, as tests/proof/work.csv), and what the reading functions say of it in every case,
-- each of which is a cluster of its own. Ends with an error if anything differs.
\set QUIET on
\set ON_ERROR_STOP on
SET client_min_messages = warning;
\pset footer off
\pset null '-'
CREATE TEMP TABLE work (job text, uid bigint, node text, target text, operation text, calls numeric, bytes numeric, usecs numeric,
    "from" timestamptz, until timestamptz);
\set copy '\\copy work FROM ' :'table' ' (FORMAT csv, HEADER)'
:copy

-- What is to be found: calls, bytes, and the time that servers spent, which they tell since Lustre 2.14.
CREATE TEMP TABLE done AS
SELECT job, uid, node, target, counted.operation, sum(counted.amount) AS done, counted.operation LIKE '%\_usecs' AS is_time
FROM work, LATERAL (VALUES (operation, calls), (operation || '_bytes', bytes), (operation || '_usecs', calls * usecs))
    AS counted (operation, amount)
WHERE counted.amount > 0
GROUP BY job, uid, node, target, counted.operation;

CREATE TEMP TABLE span AS SELECT min("time") AS since, max("time") AS until FROM jobstats.observations;
CREATE TEMP TABLE wanted AS SELECT array_agg(DISTINCT operation) AS operations FROM done;

CREATE TEMP TABLE totals AS
SELECT a.* FROM span, wanted, jobstats_totals(since, until, operations, '{cluster,target,job,uid,node}') AS a;
CREATE TEMP TABLE rates AS
SELECT a.* FROM span, wanted, jobstats_rates(since, until, operations, '{cluster,target,job,uid,node}') AS a;
CREATE TEMP TABLE top AS
SELECT a.* FROM span, wanted, unnest(operations) AS ranked,
    jobstats_top(since, until, ranked, '{cluster,target,job,uid,node}', 1000000) AS a;

CREATE TEMP TABLE answers AS
SELECT c.cluster, d.*, t.total AS totals, round((r.rate * r.coverage * r.seconds)::numeric) AS rates, p.total AS top
FROM (SELECT DISTINCT cluster FROM jobstats.targets) AS c
JOIN done d ON NOT d.is_time OR c.cluster !~ '^2\.(5|12) '
LEFT JOIN totals t USING (cluster, target, job, uid, node, operation)
LEFT JOIN rates r USING (cluster, target, job, uid, node, operation)
LEFT JOIN top p USING (cluster, target, job, uid, node, operation);

\echo
\echo 'Who did what, and in how many cases (a layout read at an interval) the functions answer exactly that:'
SELECT job, uid, node, target, operation, done, count(*) AS cases,
    count(*) FILTER (WHERE totals = done) AS jobstats_totals,
    count(*) FILTER (WHERE rates = done) AS "jobstats_rates × seconds",
    count(*) FILTER (WHERE top = done) AS jobstats_top
FROM answers GROUP BY job, uid, node, target, operation, done ORDER BY job, node, target, operation;

CREATE TEMP VIEW differences AS SELECT * FROM answers WHERE (totals, rates, top) IS DISTINCT FROM (done, done, done);
SELECT EXISTS (SELECT FROM differences) AS differ \gset
\if :differ
SELECT cluster AS "case", job, node, target, operation, done, totals, rates, top FROM differences ORDER BY 1, 2, 3, 4, 5;
\endif
DO $$
BEGIN
    ASSERT (SELECT count(*) FROM answers) > 0, 'nothing was compared';
    ASSERT NOT EXISTS (SELECT FROM differences), 'the answers differ from what was done';
    ASSERT NOT EXISTS (
        SELECT FROM totals t
        WHERE total > 0 AND NOT EXISTS (SELECT FROM done d WHERE (d.job, d.node, d.target, d.operation)
            = (t.job, t.node, t.target, t.operation))), 'there are answers about what nobody did';
END
$$;
