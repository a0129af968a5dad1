-- The spans in which targets were observed: each feed keeps them, whatever comes when, and they outlive observations.
\i store.sql
\set ECHO all
\set VERBOSITY terse
SET client_min_messages = error;
SELECT date_bin('1 day', now(), 'epoch') - interval '100 days' AS zero \gset
CREATE FUNCTION day(days numeric) RETURNS timestamptz LANGUAGE sql IMMUTABLE RETURN timestamptz :'zero' + days * interval '1 day';
CREATE FUNCTION days(at timestamptz) RETURNS numeric LANGUAGE sql IMMUTABLE RETURN trim_scale(round(extract(epoch FROM at - timestamptz :'zero') / 86400, 3));
CREATE FUNCTION feed(target text, VARIADIC days numeric[]) RETURNS TABLE (day numeric, action text) LANGUAGE sql VOLATILE AS $$
SELECT d.day, i.action FROM unnest(days) AS d (day), jobstats_ingest('', 'server of ' || target, day(d.day), ost(target, record('a.1', d.day * 1000, d.day * 1000))) i
$$;
CREATE FUNCTION setup(raw interval, sums interval) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM jobstats_setup(raw_retention => raw, retention => sums);
END
$$;
CREATE VIEW spans AS
SELECT t.name AS target, days(s.since) AS since, coalesce(days(s.until)::text, 'open') AS until, days(o.until) AS observed_until
FROM jobstats.spans s JOIN jobstats.observed_spans o USING (target_id, since) JOIN jobstats.targets t USING (target_id)
ORDER BY t.name, s.since;

-- A text that continues its target writes no span.
SELECT setup('300 days', '300 days');
SELECT * FROM feed('fs-OST0000', 1);
TABLE spans;
SELECT xmin AS written FROM jobstats.spans \gset
SELECT * FROM feed('fs-OST0000', 1.5, 2) UNION ALL SELECT * FROM feed('fs-OST0001', 1, 2);
SELECT s.xmin = :'written' AS untouched FROM jobstats.spans s JOIN jobstats.targets t USING (target_id) WHERE t.name = 'fs-OST0000';
TABLE spans;
-- A gap that is longer than raw text is kept ends a span.
SELECT setup('50 days', '300 days');
SELECT * FROM feed('fs-OST0000', 60, 61) UNION ALL SELECT * FROM feed('fs-OST0001', 60);
TABLE spans;
-- Late text: within a span, before a baseline, as one, between spans, before the first.
SELECT * FROM feed('fs-OST0000', 60.5);
TABLE spans;
SELECT * FROM feed('fs-OST0000', 55);
TABLE spans;
SELECT * FROM feed('fs-OST0001', 55, 54, 56);
TABLE spans;
SELECT setup('300 days', '300 days');
SELECT * FROM feed('fs-OST0000', 20);
SELECT * FROM feed('fs-OST0000', 0.5);
TABLE spans;
-- Rejected and known texts do not change spans.
SELECT * FROM feed('fs-OST0000', 20, 110);
SELECT * FROM wrong_spans();
-- A former baseline is not one where raw text is kept for longer.
SELECT name, computed, changed FROM jobstats_reprocess(day(53), day(100), 'target=fs-OST0001');
TABLE spans;
SELECT * FROM wrong_spans();

-- Texts in any order, with gaps that come and go as raw text is kept for longer or shorter.
BEGIN;
SELECT setseed(0.5) IS NOT NULL AS is_the_same_each_time;
CREATE TABLE said (n serial, action text, spans bigint, wrong bigint);
DO $$
DECLARE
    name text;
    age float;
BEGIN
    FOR n IN 1..60 LOOP
        FOREACH name IN ARRAY '{fs-OST0010,fs-OST0011,fs-OST0012,fs-OST0013}'::text[] LOOP
            age := 60 * 0.3 ^ (n / 12) * (1 + random() * CASE WHEN random() < 0.15 THEN 2 ELSE 0.3 END);
            UPDATE jobstats.settings SET raw_retention = CASE WHEN random() < 0.1 THEN 300 ELSE age * (1 + random() / 2) END * interval '1 day';
            INSERT INTO said (action) SELECT f.action FROM feed(name, round((days(clock_timestamp()) - age)::numeric, 4)) f;
            UPDATE said SET spans = (SELECT count(*) FROM jobstats.spans), wrong = (SELECT count(*) FROM wrong_spans()) WHERE said.n = lastval();
        END LOOP;
    END LOOP;
END
$$;
SELECT action, count(*) > 5 AS often FROM said WHERE action <> 'rejected' GROUP BY action ORDER BY action;
SELECT max(spans) > 12 AS has_gaps, count(*) FILTER (WHERE spans < before) > 2 AS joins_them, sum(wrong) AS wrong
FROM (SELECT s.*, lag(s.spans) OVER (ORDER BY s.n) AS before FROM said s) s;
ROLLBACK;

-- A table that is wrong is found and put right.
DELETE FROM jobstats.spans USING jobstats.targets t WHERE t.target_id = spans.target_id AND t.name = 'fs-OST0000';
UPDATE jobstats.spans SET since = day(1.5), until = day(56) WHERE until IS NULL;
SELECT target, days("time") AS at, what, stored IS NOT NULL AS stored, computed IS NOT NULL AS computed FROM jobstats_audit(day(0), day(100));
SELECT target, days("time") AS at, what FROM jobstats_audit(day(54), day(57));
SELECT count(*) FROM jobstats_reprocess(day(0), day(100));
SELECT * FROM wrong_spans();
SELECT count(*) FROM jobstats_audit(day(0), day(100));
BEGIN;
DROP TABLE jobstats.spans CASCADE;
SELECT jobstats_setup() IS NOT NULL AS ready;
SELECT * FROM wrong_spans();
ROLLBACK;
-- False text that is deleted leaves no span. The target ends earlier then.
BEGIN;
DELETE FROM jobstats.observations WHERE "time" > day(58);
DELETE FROM jobstats.raw WHERE "time" > day(58);
DELETE FROM jobstats.increments WHERE observed > day(58);
SELECT count(*) FROM jobstats_audit(day(58), day(100)) WHERE what = 'spans';
SELECT count(*) FROM jobstats_reprocess(day(58), day(100));
TABLE spans;
SELECT * FROM wrong_spans();
ROLLBACK;

-- They give the same coverage as observations, for any window.
CREATE FUNCTION differs() RETURNS TABLE (windows bigint, answers bigint, differ bigint) LANGUAGE sql STABLE AS $$
SELECT count(DISTINCT (w.since, w.until)), count(q.name), count(*) FILTER (WHERE coalesce(q.coverage, 0) <> coalesce(told.coverage, 0))
FROM (
    SELECT day(n / 7.0 - 2) AS since, day(n / 7.0 - 2 + length) AS until
    FROM generate_series(0, 700, 37) n, unnest('{0.01,0.4,1,3.3,30,200}'::numeric[]) AS length WHERE n / 7.0 - 2 + length < 99) w
CROSS JOIN jobstats.targets t
LEFT JOIN LATERAL jobstats_totals(w.since, w.until, 'write', 'target', filter => jsonb_build_object('target', t.name)) q ON true
CROSS JOIN LATERAL (
    SELECT trunc(sum(extract(epoch FROM least(s.until, w.until) - greatest(s.since, w.since))) / extract(epoch FROM w.until - w.since), 4) AS coverage
    FROM jobstats.observed_spans s
    -- The spans of a window are read so.
    WHERE s.since <= w.until AND s.until > w.since AND s.target_id = t.target_id) told
$$;
SELECT * FROM feed('fs-OST0002', 1, 1.25, 3);
SELECT setup('50 days', '300 days');
SELECT * FROM feed('fs-OST0002', 60.1, 61, 61.3);
SELECT * FROM differs();
CALL jobstats_maintain();
SELECT setup('2 days', '42 days');
CALL jobstats_maintain();
SELECT days(min("time")) AS observed_since FROM jobstats.observations;
TABLE spans;
SELECT * FROM wrong_spans();
SELECT count(*) FROM jobstats_audit(day(0), day(100)) WHERE what = 'spans';
SELECT * FROM differs();
-- A target that comes back.
SELECT feed('fs-OST0002', 99.9);
TABLE spans;
SELECT * FROM differs();
-- They go with the last rollup.
SELECT jobstats_setup(rollup_10m_retention => '42 days', rollup_1h_retention => '42 days', rollup_1d_retention => '42 days') IS NOT NULL AS ready;
CALL jobstats_maintain();
TABLE spans;
SELECT * FROM wrong_spans();

-- Another name, and no more of it.
SELECT jobstats_alter_target('fs-OST0002', rename_to => 'fs-OST0003', retired => true);
SELECT jobstats_drop_targets('{fs-OST0003}');
TABLE spans;
