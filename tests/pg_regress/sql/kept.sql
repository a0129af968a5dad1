-- For times older than increments and observations, the retained rollups answer.
\i store.sql
\set ECHO all
\set VERBOSITY terse
SELECT jobstats_setup(raw_retention => '300 days', retention => '300 days') IS NOT NULL AS ready;
SELECT date_bin('1 day', now(), 'epoch') - interval '100 days' AS zero \gset
CREATE FUNCTION day(days numeric) RETURNS timestamptz LANGUAGE sql IMMUTABLE RETURN timestamptz :'zero' + days * interval '1 day';

-- Notices name days that depend on today.
SET client_min_messages = warning;

-- Two targets that are read every 21 minutes, from a hundred days ago for three days and since yesterday; on the
-- second day one of them is not read for six hours.
CREATE FUNCTION feed(target text, "time" timestamptz) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', feed."time", ost(target, record('a.1', seconds, seconds * 4096), record('b.2', seconds / 1000, seconds))
FROM (SELECT extract(epoch FROM feed."time" - day(-1))::bigint) s (seconds)
$$;
SELECT count(*)
FROM unnest(ARRAY['fs-OST0000', 'fs-OST0001']) target, generate_series(day(0), day(3), interval '21 minutes') t, feed(target, t)
WHERE target = 'fs-OST0000' OR t NOT BETWEEN day(1.25) AND day(1.5);
SELECT count(*)
FROM unnest(ARRAY['fs-OST0000', 'fs-OST0001']) target, generate_series(day(99), day(99.9), interval '1 hour') t, feed(target, t);

CREATE FUNCTION answers(since timestamptz, until timestamptz, step interval) RETURNS TABLE (function text, answer jsonb)
LANGUAGE sql STABLE AS $$
SELECT 'rates', to_jsonb(r) FROM jobstats_rates(since, until, 'write_bytes,write', 'target,workload', step) r
UNION ALL
SELECT 'totals', to_jsonb(r) FROM jobstats_totals(since, until) r
UNION ALL
SELECT 'top', to_jsonb(r) FROM jobstats_top(since, until, 'write_bytes') r
UNION ALL
SELECT 'summary', to_jsonb(r) - 'first' - 'last_active' FROM jobstats_summary(since, until, 'workload') r
UNION ALL
SELECT 'balance', to_jsonb(r) FROM jobstats_balance(since, until, 'write_bytes') r
UNION ALL
SELECT 'densities', to_jsonb(r) FROM jobstats_densities(since, until, 'write_bytes', 'target,workload', step => step) r
$$;
CREATE VIEW days AS SELECT * FROM answers(day(-1), day(5), '1 day');
CREATE VIEW hours AS SELECT * FROM answers(day(1), day(2), '1 hour');
CREATE VIEW minutes AS SELECT * FROM answers(day(1), day(1.1), '10 minutes');
CREATE TABLE days_before AS TABLE days;
CREATE TABLE hours_before AS TABLE hours;
CREATE TABLE minutes_before AS TABLE minutes;
SELECT (SELECT count(*) FROM days_before) AS days, (SELECT count(*) FROM hours_before) AS hours, (SELECT count(*) FROM minutes_before) AS minutes;
CALL jobstats_maintain();

-- Increments are gone, and rollups of ten minutes; hours and days are kept.
SELECT jobstats_setup(raw_retention => '1 day', retention => '50 days', rollup_10m_retention => '60 days') IS NOT NULL AS ready;
CALL jobstats_maintain();
SELECT min("time") >= day(50) AS increments FROM jobstats.increments;
SELECT min("time") >= day(50) AS observations FROM jobstats.observations;
SELECT min(until) >= day(40) AS "10m" FROM jobstats.increments_10m;
SELECT min(until) < day(1) AS "1h" FROM jobstats.increments_1h;
SELECT min(until) < day(3) AS "1d" FROM jobstats.increments_1d;
(TABLE days_before EXCEPT ALL TABLE days) UNION ALL (TABLE days EXCEPT ALL TABLE days_before);
(TABLE hours_before EXCEPT ALL TABLE hours) UNION ALL (TABLE hours EXCEPT ALL TABLE hours_before);
-- Finer steps spread the sums evenly over their hour.
SELECT r.total, r.coverage, trunc(h.write_bytes / 6.0) AS expected
FROM (VALUES (day(1), day(1) + interval '10 minutes')) w (since, until)
CROSS JOIN LATERAL (
    SELECT total, coverage
    FROM jobstats_totals(w.since, w.until, 'write_bytes', 'target', filter => 'uid=1 target=fs-OST0000')) r
JOIN jobstats.increments_1h h ON h.since = w.since
    AND h.target_id = (SELECT target_id FROM jobstats.targets WHERE name = 'fs-OST0000')
    AND h.entry_id = (SELECT entry_id FROM jobstats.entries WHERE name = 'a.1');
-- Windows side by side add up, wherever they meet.
SELECT count(*), sum(a.total + b.total) = sum(c.total) AS add_up
FROM unnest(ARRAY['7 minutes', '1 hour', '5 hours 12 minutes 3.4 seconds', '23 hours 59 minutes']::interval[]) AS meet
CROSS JOIN LATERAL jobstats_totals(day(0.1), day(1) + meet, 'write_bytes,write', 'target') a
CROSS JOIN LATERAL jobstats_totals(day(1) + meet, day(2.3), 'write_bytes,write', 'target') b
CROSS JOIN LATERAL jobstats_totals(day(0.1), day(2.3), 'write_bytes,write', 'target') c
WHERE (a.name, a.operation) = (b.name, b.operation) AND (a.name, a.operation) = (c.name, c.operation);
-- A whole year, with any edges, has the same totals as before.
SELECT operation, total, coverage FROM jobstats_totals(day(0) - interval '300.123 days', day(3), 'write_bytes,write', '');
SELECT sum(write_bytes) AS write_bytes, sum(write) AS write FROM jobstats.increments_1d WHERE until <= day(3);
-- Only increments distinguish servers.
SELECT count(*), max(coverage) FROM jobstats_totals(day(0), day(1), by => 'server');

-- Text older than retention is rejected, not stored and dropped.
SELECT feed('fs-OST0002', day(10));
SELECT feed('fs-OST0000', day(2.001));
SELECT target, reason FROM jobstats.rejects ORDER BY 1;
CALL jobstats_maintain();
(TABLE days_before EXCEPT ALL TABLE days) UNION ALL (TABLE days EXCEPT ALL TABLE days_before);

-- A year later only days are left; the observed times remain known.
SELECT jobstats_setup(rollup_1h_retention => '60 days') IS NOT NULL AS ready;
CALL jobstats_maintain();
(TABLE days_before EXCEPT ALL TABLE days) UNION ALL (TABLE days EXCEPT ALL TABLE days_before);
SELECT count(*) AS spans, sum(until - since) AS observed FROM jobstats.observed_spans;
SELECT * FROM wrong_spans();
