-- Filters that let no, few, half or all of many entries through give what the same question by entry adds up to, from
-- increments and from every rollup.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
SELECT jobstats_setup(retention => '100 years', compress_after => '100 years') IS NOT NULL AS ready;

-- Two days of two targets, observed every ten minutes. Each of 2,200 entries writes once on each target, entry k k + 1 times,
-- on the nodes r0, l1, r2, l3, …; every hundredth is the user 7.
DO $$ BEGIN
    PERFORM observe('fs-OST0000', 'oss1', VARIADIC ARRAY(SELECT 10 * n FROM generate_series(0, 288) n));
    PERFORM observe('fs-OST0001', 'oss2', VARIADIC ARRAY(SELECT 10 * n FROM generate_series(0, 288) n));
END $$;
INSERT INTO jobstats.entries (entry_id, name, job, uid, node, format, status, workload, first_seen)
SELECT k, format('%s:%s:%s', k, i.uid, i.node), k, i.uid, i.node, '%j:%u:%H', 'ok', k, at(0)
FROM generate_series(0, 2199) k
CROSS JOIN LATERAL (SELECT CASE k % 100 WHEN 7 THEN 7 ELSE 1000 + k % 3 END AS uid, format('%s%s', CASE k % 2 WHEN 0 THEN 'r' ELSE 'l' END, k) AS node) i;
INSERT INTO jobstats.increments ("time", since, observed, target_id, entry_id, reset, write, write_usecs)
SELECT at(10 * n + 10), at(10 * n), at(10 * n + 10), t.target_id, e.entry_id, false, e.entry_id + 1, 10 * (e.entry_id + 1)
FROM jobstats.entries e CROSS JOIN jobstats.targets t
CROSS JOIN LATERAL (SELECT (e.entry_id + 7 * t.target_id) % 288 AS n) i;
ANALYZE jobstats.entries, jobstats.increments;

CREATE TABLE filters (part text, filter jsonb, exclude jsonb);
INSERT INTO filters VALUES
    ('none', '{"node": ["x*"]}', NULL), ('few', '{"uid": [7]}', NULL), ('half', '{"node": ["r*"]}', NULL), ('all', '{"node": ["*"]}', NULL),
    ('but few', NULL, '{"uid": [7]}'), ('but half', NULL, '{"node": ["l*"]}'), ('but all', NULL, '{"uid": [7, "10*"]}');
-- By hand, on each target: 1 + 2 + … + 2200 in all, 1 + 3 + … + 2199 on nodes r…, 8 + 108 + … + 2108 of user 7.
SELECT f.part, t.name, t.total
FROM filters f CROSS JOIN LATERAL jobstats_totals(at(0), at(2880), 'write', 'target', filter => f.filter, exclude => f.exclude) t
ORDER BY 1, 2;

-- The rates of targets in steps, and the sums over single entries.
CREATE TABLE steps (step interval);
INSERT INTO steps VALUES ('35 minutes'), ('30 minutes'), ('1 hour'), ('1 day');
CREATE VIEW filtered AS
SELECT f.part, s.step, r."time", r.name AS target, r.operation, r.rate
FROM filters f CROSS JOIN steps s
CROSS JOIN LATERAL jobstats_rates(at(-480), at(3360), 'write,service_time', 'target', s.step, filter => f.filter, exclude => f.exclude) r
WHERE r.rate <> 0;
CREATE TABLE expected AS
WITH by_entry AS MATERIALIZED (
    SELECT s.step, r."time", r.operation, r.rate, l.*
    FROM steps s CROSS JOIN jobstats_rates(at(-480), at(3360), 'write,service_time', 'target,job,node,uid', s.step) r
    CROSS JOIN jsonb_to_record(r.labels) AS l (target text, node text, uid bigint)
)
SELECT f.part, r.step, r."time", r.target, r.operation, sum(r.rate) AS rate
FROM filters f JOIN by_entry r ON CASE f.part WHEN 'few' THEN r.uid = 7 WHEN 'half' THEN r.node LIKE 'r%' WHEN 'all' THEN true
    WHEN 'but few' THEN r.uid <> 7 WHEN 'but half' THEN r.node NOT LIKE 'l%' END
GROUP BY f.part, r.step, r."time", r.target, r.operation;
SELECT part, count(*) > 200 AS many FROM expected GROUP BY part ORDER BY part;
CREATE VIEW differences AS
SELECT part, step, "time", target, operation, f.rate, e.rate AS expected
FROM filtered f FULL JOIN expected e USING (part, step, "time", target, operation)
WHERE (f.rate - e.rate) ^ 2 <= 1e-18 * e.rate ^ 2 IS NOT TRUE;
SELECT count(*) FROM differences;
CALL jobstats_maintain();
SELECT count(*) FROM differences;
