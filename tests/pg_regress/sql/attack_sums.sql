-- No stored sum overflows its column, whatever the text; answers over long windows are exact.
\i store.sql
\set ECHO all
SET client_min_messages = warning;
SELECT jobstats_setup(raw_retention => '200 days', retention => '200 days') IS NOT NULL AS ready;
-- Calls of many entries of one user.
CREATE FUNCTION entries(target text, entries integer, calls bigint) RETURNS text LANGUAGE sql AS $$
SELECT mdt(target, VARIADIC array_agg(format(E'- job_id: %s:4242:n\n  snapshot_time: 1700000000\n  open: { samples: %s, unit: reqs }\n'
    '  close: { samples: %s, unit: reqs }\n', n, calls, CASE WHEN calls > 1 THEN 3 ELSE 1 END)))
FROM generate_series(1, entries) n
$$;
CREATE VIEW rejected AS
SELECT target, reason, count(*) AS rows, max(line) AS line, max(text) FILTER (WHERE text LIKE 'and %') AS more
FROM jobstats.rejects GROUP BY target, reason ORDER BY target NULLS FIRST, reason;

-- Two small texts, an hour ago: each increment could be true, their sum cannot.
INSERT INTO jobstats.feed (cluster, server, "time", body)
VALUES ('c1', 'x', at(0), entries('ov-MDT0000', 1100, 1)), ('c1', 'x', at(1), entries('ov-MDT0000', 1100, 9007199254740991)),
    ('c2', 'mds1', at(0), entries('ok-MDT0000', 2, 1)), ('c2', 'mds1', at(1), entries('ok-MDT0000', 2, 8));
SELECT * FROM rejected;
SELECT line, text FROM jobstats.rejects WHERE target = 'ov-MDT0000' ORDER BY line LIMIT 1;
-- What else these entries did is there.
SELECT t.name, count(*), sum(i.open) AS open, sum(i.close) AS close, max(o.active) AS active, max(o.problems) AS problems
FROM jobstats.increments i JOIN jobstats.targets t USING (target_id)
JOIN jobstats.observations o ON o.target_id = i.target_id AND o."time" = i.observed
GROUP BY t.name ORDER BY t.name;
CALL jobstats_maintain();
SELECT problem FROM jobstats.maintenance WHERE problem IS NOT NULL;
SELECT cluster, uid, total FROM (SELECT * FROM jobstats_top(at(0), at(60), 'open', 'cluster,uid') r, dims(r.labels)) AS jobstats_top;
SELECT cluster, operation, total FROM (SELECT * FROM jobstats_totals(at(0), at(60), 'open,close', 'cluster,uid') r, dims(r.labels)) AS jobstats_totals ORDER BY 1, 2;
-- The next text is compared with the dropped values.
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT 'c1', 'x', at(2), replace(entries('ov-MDT0000', 1100, 9007199254740991), '9007199254740991', '9007199254740996');
SELECT sum(i.open) AS open, count(*) FROM jobstats.increments i WHERE i.observed = at(2);

-- Texts microseconds apart, each with the largest allowed growth: no bucket comes near its limit.
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT 'c1', 'x', at(3) + n * interval '1 microsecond', entries('us-MDT0000', 1, n * 1000000000000000)
FROM generate_series(0, 40) n ORDER BY n;
SELECT * FROM rejected WHERE target = 'us-MDT0000';
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT 'c1', 'x', at(4) + n * interval '1 microsecond', entries('us-MDT0001', 1, n << 30)
FROM generate_series(0::bigint, 40) n ORDER BY n;
SELECT sum(i.open) = 40::bigint << 30 AS believed FROM jobstats.increments i JOIN jobstats.targets t USING (target_id) WHERE t.name = 'us-MDT0001';

-- A target with the largest possible load for 150 days: the sum of all days exceeds a bigint, a single day does not.
SELECT date_bin('1 day', now(), 'epoch') - interval '160 days' AS zero \gset
CREATE FUNCTION day(days numeric) RETURNS timestamptz LANGUAGE sql IMMUTABLE RETURN timestamptz :'zero' + days * interval '1 day';
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT 'c3', 'mds2', day(30 * n), entries('max-MDT0000', 300, n * 9000000000000000) FROM generate_series(0, 5) n ORDER BY n;
SELECT * FROM rejected WHERE target = 'max-MDT0000';
SELECT sum(i.open) AS open, sum(i.open) > 9223372036854775807 AS too_much FROM jobstats.increments i WHERE i.observed > day(0) AND i.observed <= day(150);
CREATE FUNCTION answers() RETURNS TABLE (question text, answer text) LANGUAGE sql AS $$
SELECT 'totals', total::text FROM (SELECT * FROM jobstats_totals(day(0), day(150), 'open', 'uid', filter => 'cluster=c3') r, dims(r.labels)) AS jobstats_totals
UNION ALL
SELECT 'totals by target', total::text FROM (SELECT * FROM jobstats_totals(day(0), day(150), 'open,metadata', 'target', filter => 'cluster=c3') r, dims(r.labels)) AS jobstats_totals
UNION ALL
SELECT 'totals in between', total::text FROM (SELECT * FROM jobstats_totals(day(0) + interval '1 second', day(150) - interval '1 second', 'open', 'uid', filter => 'cluster=c3') r, dims(r.labels)) AS jobstats_totals
UNION ALL
SELECT 'top', total::text FROM (SELECT * FROM jobstats_top(day(0), day(150), 'open', 'uid', filter => 'cluster=c3') r, dims(r.labels)) AS jobstats_top
UNION ALL
SELECT 'top of users', total::text FROM (SELECT * FROM jobstats_top(day(0), day(150), 'metadata', 'uid', filter => 'cluster=c3 uid=4242') r, dims(r.labels)) AS jobstats_top
UNION ALL
SELECT 'summary', metadata::text FROM (SELECT * FROM jobstats_summary(day(0), day(150), 'uid', filter => 'cluster=c3') r, dims(r.labels)) AS jobstats_summary
UNION ALL
SELECT 'rates', round(rate)::text FROM (SELECT * FROM jobstats_rates(day(0), day(150), 'open', 'uid', filter => 'cluster=c3') r, dims(r.labels)) AS jobstats_rates
UNION ALL
SELECT 'rates by month', string_agg(DISTINCT round(rate)::text, ' ') FROM (SELECT * FROM jobstats_rates(day(0), day(150), 'open', 'uid', '50 days', filter => 'cluster=c3') r, dims(r.labels)) AS jobstats_rates
UNION ALL
SELECT 'densities', string_agg(format('%s %s', bucket, count), ' ' ORDER BY bucket) FROM jobstats_densities(day(0), day(150), 'open', 'uid', filter => 'cluster=c3')
UNION ALL
SELECT 'balance', count(*)::text FROM (SELECT * FROM jobstats_balance(day(0), day(150), 'open', filter => 'filesystem=max') r, dims_of_leader(r.labels)) AS jobstats_balance
UNION ALL
SELECT 'job', total::text FROM (SELECT * FROM jobstats_job_usage('7', since => day(0), until => day(150)) r, dims(r.labels)) AS jobstats_job_usage WHERE operation = 'open' AND target = 'max-MDT0000'
$$;
CREATE TABLE before AS SELECT * FROM answers();
TABLE before;
CALL jobstats_maintain();
SELECT problem FROM jobstats.maintenance WHERE problem IS NOT NULL;
SELECT max(open) < 9223372036854775807 AS fits FROM jobstats.rollup_1d_users;
CREATE VIEW changed AS (TABLE before EXCEPT ALL SELECT * FROM answers()) UNION ALL (SELECT * FROM answers() EXCEPT ALL TABLE before);
TABLE changed;
-- Where some of the rollups by user are not up to date: of entries, for a long time.
BEGIN;
UPDATE jobstats.rollups SET users_refreshed = 'epoch' WHERE level = '1d';
TABLE changed;
UPDATE jobstats.rollups SET users_refreshed = 'epoch' WHERE level <> '10m';
TABLE changed;
ROLLBACK;
BEGIN;
INSERT INTO jobstats.dirty (target_id, span_from, span_to) SELECT target_id, day(1), day(149) FROM jobstats.targets WHERE name = 'max-MDT0000';
TABLE changed;
ROLLBACK;
SELECT target, what FROM jobstats_audit(day(0), now());

-- The limit can be lowered, and not be raised.
UPDATE jobstats.settings SET max_rate = 1;
\set VERBOSITY terse
UPDATE jobstats.settings SET max_rate = 1099511627777;
\set VERBOSITY default
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT 'c4', 'mds3', at(n * 10), entries('low-MDT0000', 1, n * 2000000000) FROM generate_series(0, 1) n ORDER BY n;
SELECT * FROM rejected WHERE target = 'low-MDT0000';
