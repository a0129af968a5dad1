-- Windows and steps that begin at odd microseconds say exactly what increments do, whatever they are read from.
\getenv source PG_ABS_SRCDIR
\set store :source '/include/store.sql'
\set ECHO none
\i :store
\set ECHO all
SELECT jobstats_setup(raw_retention => '100 years', retention => '100 years') IS NOT NULL AS ready;

-- Two targets that are read every seven and every eleven minutes for two days, one of them not at all for a while.
CREATE FUNCTION feed(target text, "time" timestamptz) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', feed."time", ost(target, record('a.1', seconds, seconds * 4096), record('b.2', seconds / 1000, seconds),
    record('c.3', seconds / 7, seconds * 13))
FROM (SELECT extract(epoch FROM feed."time" - '2025-10-20')::bigint) s (seconds)
$$;
SELECT count(feed('fs-OST0000', t))
FROM generate_series(timestamptz '2025-10-24 00:07:00.000003', '2025-10-26 12:00', interval '7 minutes') t;
SELECT count(feed('fs-OST0001', t))
FROM generate_series(timestamptz '2025-10-24 01:00:00.7', '2025-10-26 12:00', interval '11 minutes') t
WHERE t NOT BETWEEN '2025-10-25 03:00' AND '2025-10-25 06:00';
CALL jobstats_maintain();
SELECT count(*) > 0 AS hours, (SELECT count(*) FROM jobstats.rollup_1d) > 0 AS days FROM jobstats.rollup_1h;

-- What increments say of a window: of each row, the difference of what it had reached at the edges, rounded down.
CREATE FUNCTION reached(value bigint, since timestamptz, "time" timestamptz, edge timestamptz) RETURNS numeric LANGUAGE sql AS $$
SELECT floor(value * extract(epoch FROM least(greatest(edge, since), "time") - since)::numeric / extract(epoch FROM "time" - since)::numeric)
$$;
CREATE FUNCTION told(since timestamptz, until timestamptz) RETURNS TABLE (target text, uid bigint, total numeric) LANGUAGE sql AS $$
SELECT t.name, e.uid, sum(reached(i.write_bytes, i.since, i."time", told.until) - reached(i.write_bytes, i.since, i."time", told.since))
FROM jobstats.increments i JOIN jobstats.entries e USING (entry_id) JOIN jobstats.targets t USING (target_id)
WHERE i."time" > told.since AND i.since < told.until
GROUP BY 1, 2 HAVING sum(reached(i.write_bytes, i.since, i."time", told.until) - reached(i.write_bytes, i.since, i."time", told.since)) > 0
$$;
CREATE TABLE windows AS
SELECT row_number() OVER () AS n, since::timestamptz, until::timestamptz, step::interval FROM (VALUES
    ('2025-10-24 06:17:31.234567', '2025-10-25 06:17:31.234567', '1 hour'),
    ('2025-10-24 06:17:31.234567', '2025-10-26 01:02:03.000004', '1 day'),
    ('2025-10-24 23:59:59.999999', '2025-10-25 00:00:00.000001', '1 hour'),
    ('2025-10-24 11:59:59.999999', '2025-10-25 12:00:00.000001', '10 minutes'),
    ('2025-10-24 12:00:00.000001', '2025-10-25 11:59:59.999999', '20 minutes'),
    ('2025-10-25 02:51:00.5', '2025-10-25 07:09:00.25', '7 minutes'),
    ('2025-10-24 12:04:05.000006', '2025-10-24 12:08:09.000001', '1 minute')) w (since, until, step);
CREATE TABLE told AS SELECT w.n, s.* FROM windows w, told(w.since, w.until) s;
SELECT n, count(*), sum(total) > 0 AS any FROM told GROUP BY n ORDER BY n;

-- Totals of windows, by what rollups by entry and by user are made for, and by targets alone.
CREATE TABLE totals AS
SELECT w.n, d.target, d.uid, d.workload, t.total FROM windows w, (VALUES ('target,uid'), ('target,workload'), ('target')) b (by),
    jobstats_totals(w.since, w.until, 'write_bytes', b.by) t, dims(t.labels) d WHERE t.total > 0;
SELECT n, target, uid, total FROM totals WHERE uid IS NOT NULL EXCEPT TABLE told;
TABLE told EXCEPT SELECT n, target, uid, total FROM totals WHERE uid IS NOT NULL;
SELECT n, target, sum(total) FILTER (WHERE uid IS NOT NULL) AS users, sum(total) FILTER (WHERE workload IS NOT NULL) AS workloads,
    sum(total) FILTER (WHERE uid IS NULL AND workload IS NULL) AS target_alone
FROM totals GROUP BY n, target
HAVING sum(total) <> 3 * sum(total) FILTER (WHERE uid IS NOT NULL);
-- Every step of them, by users and by workloads.
CREATE TABLE steps AS
SELECT w.n, r."time", r."time" + r.seconds * interval '1 second' AS until, d.target, d.uid, d.workload, r.total, r.rate * r.seconds AS if_observed, r.coverage
FROM windows w, (VALUES ('target,uid'), ('target,workload')) b (by),
    jobstats_rates(w.since, w.until, 'write_bytes', b.by, w.step) r, dims(r.labels) d;
SELECT * FROM steps WHERE total NOT BETWEEN if_observed * coverage * (1 - 1e-9) AND if_observed * (coverage + 0.0001);
CREATE TABLE told_of_steps AS
SELECT s.n, s."time", t.target, t.uid, t.total FROM (SELECT DISTINCT n, "time", until FROM steps) s, told(s."time", s.until) t;
SELECT n, count(DISTINCT "time") AS steps, min("time") AS first, max(until) AS last FROM steps GROUP BY n ORDER BY n;
SELECT n, "time", target, uid, total FROM steps WHERE uid IS NOT NULL EXCEPT TABLE told_of_steps;
TABLE told_of_steps EXCEPT SELECT n, "time", target, uid, total FROM steps WHERE uid IS NOT NULL;
SELECT n, "time", target, sum(total) FROM steps WHERE workload IS NOT NULL GROUP BY 1, 2, 3
EXCEPT SELECT n, "time", target, sum(total) FROM told_of_steps GROUP BY 1, 2, 3;
