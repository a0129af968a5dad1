-- Disk is bounded by the size of the texts: a text makes a few rows for each of its records.
\i store.sql
\set ECHO all
SET client_min_messages = warning;
-- Day 100 is today, UTC.
SELECT date_bin('1 day', now(), 'epoch') - interval '100 days' AS zero \gset
CREATE FUNCTION day(days numeric) RETURNS timestamptz LANGUAGE sql IMMUTABLE RETURN timestamptz :'zero' + days * interval '1 day';
CREATE FUNCTION entries(target text, entries integer, calls numeric) RETURNS text LANGUAGE sql AS $$
SELECT ost(target, VARIADIC array_agg(record(format('%s:%s:n1', n, n), calls, calls * 4096))) FROM generate_series(1, entries) n
$$;

-- Two texts of 200 entries, as far apart as increments are kept: the first is too late, like any other of its age.
INSERT INTO jobstats.feed (server, "time", body)
VALUES ('oss1', now() - interval '89 days', entries('fs-OST0000', 200, 0)), ('oss1', now(), entries('fs-OST0000', 200, 1000000));
SELECT reason, count(*) FROM jobstats.rejects GROUP BY reason;
SELECT count(*) AS observations, count(o.since) AS compared FROM jobstats.observations o;
SELECT count(*) AS increments FROM jobstats.increments;

-- After more than raw text is kept for, a target begins anew.
INSERT INTO jobstats.feed (server, "time", body)
VALUES ('oss1', now() - interval '46 hours', ost('fs-OST0040', record('a.1', 1, 4096)));
UPDATE jobstats.settings SET raw_retention = '45 hours';
INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', now(), ost('fs-OST0040', record('a.1', 9, 9 * 4096), record('b.2', 9, 9 * 4096)));
SELECT o.since IS NULL AS anew, o.active FROM jobstats.observations o JOIN jobstats.targets t USING (target_id)
WHERE t.name = 'fs-OST0040' ORDER BY o."time" DESC LIMIT 1;
SELECT target, what, stored, computed FROM jobstats_audit(now() - interval '1 hour', now()) WHERE target = 'fs-OST0040';

-- Where raw text is kept for 30 days, any gap up to that gives each record as many rows as it may, at most.
SELECT jobstats_setup(raw_retention => '30 days', retention => '90 days') IS NOT NULL AS ready;
CREATE TABLE gaps AS
SELECT row_number() OVER (ORDER BY hours) AS n, hours FROM unnest('{0.1, 5.99, 6, 6.01, 23.9, 24, 24.01, 60.7, 200, 695, 719.9}'::numeric[]) AS hours;
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', u.at, entries(format('fs-OST%s', to_char(n, 'FM0000')), 3, u.calls)
FROM gaps, unnest(ARRAY[now() - hours * interval '1 hour', now()], '{0, 123456}'::integer[]) AS u (at, calls)
ORDER BY n, u.calls;
SELECT hours, count(*) <= 3 * 37 AS bounded, bool_and(i.since >= date_bin(w.edge, i."time" - interval '1 microsecond', 'epoch')) AS divided,
    sum(i.write) AS write
FROM jobstats.increments i
JOIN jobstats.targets t USING (target_id)
JOIN gaps ON t.name = format('fs-OST%s', to_char(n, 'FM0000'))
CROSS JOIN LATERAL (
    SELECT CASE WHEN hours > 24 THEN interval '1 day' WHEN hours > 6 THEN '1 hour' ELSE '10 minutes' END AS edge) w
GROUP BY hours ORDER BY hours;
-- A counter that was missing for weeks does not reach back further than a day before the text before.
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', day(80), ost('fs-OST0020', record('a.1', 5, 5 * 4096), record('b.2', 5, 5 * 4096))
UNION ALL
SELECT 'oss1', day(80) + n * interval '12 hours', ost('fs-OST0020', regexp_replace(record('a.1', 5, 5 * 4096), '  punch[^\n]*\n', ''), record('b.2', 5, 5 * 4096))
FROM generate_series(1, 39) n
UNION ALL
SELECT 'oss1', day(99.9), ost('fs-OST0020', record('a.1', 5, 5 * 4096, 700), record('b.2', 5, 5 * 4096));
SELECT i.since - day(0) AS since, i."time" - day(0) AS "time", i.punch
FROM jobstats.increments i JOIN jobstats.targets t USING (target_id) WHERE t.name = 'fs-OST0020' ORDER BY i."time";

-- Rollups of ten minutes and of hours know only whole days of such rows; steps, views and functions agree all the same.
INSERT INTO jobstats.feed (server, "time", body)
VALUES ('oss1', day(95) + interval '7 hours 3 minutes', ost('fs-OST0030', record('a.1', 0, 0))),
    ('oss1', day(98) + interval '16 hours 44 minutes', ost('fs-OST0030', record('a.1', 1000003, 4096012288))),
    ('oss1', day(98) + interval '16 hours 50 minutes', ost('fs-OST0030', record('a.1', 1000010, 4096040960)));
SELECT width FROM jobstats.coarse WHERE (span_from, span_to) = (day(95), day(99));
CREATE FUNCTION answers() RETURNS TABLE (question text, answer text) LANGUAGE sql AS $$
SELECT format('%s by %s', w.since - day(0), s.step), r::text
FROM (VALUES (day(95)), (day(96)), (day(95) + interval '5 hours 6 minutes 7 seconds'), (day(98) + interval '1 hour')) w (since),
    unnest('{1 day, 7 hours, 1 hour, 10 minutes, 411 seconds}'::interval[]) s (step),
    jobstats_rates(w.since, day(99), 'write,write_bytes', 'uid,target', s.step, filter => 'target=fs-OST0030') r
UNION ALL
SELECT format('top since %s', w.since - day(0)), r::text
FROM (VALUES (day(96), day(97)), (day(97), day(97) + interval '3 hours'), (day(95) + interval '1 hour', day(98) + interval '16 hours 47 minutes')) w (since, until),
    jobstats_top(w.since, w.until, 'write', 'uid', filter => 'target=fs-OST0030') r
$$;
CREATE TABLE before AS SELECT * FROM answers();
SELECT count(*) > 500 AS many FROM before;
SELECT step, sum(total) AS write
FROM unnest('{1 day, 7 hours, 1 hour, 10 minutes, 411 seconds}'::interval[]) step,
    jobstats_rates(day(95), day(99), 'write', 'target', step, filter => 'target=fs-OST0030')
GROUP BY step ORDER BY step DESC;
SELECT total FROM jobstats_totals(day(96), day(97), 'write', filter => 'target=fs-OST0030');
CALL jobstats_maintain();
CREATE TABLE after AS SELECT * FROM answers();
(TABLE before EXCEPT ALL TABLE after) UNION ALL (TABLE after EXCEPT ALL TABLE before);
-- Every level gives whole days.
SELECT d - day(0) AS day, i.write, m.write AS of_10m, h.write AS of_1h, r.write AS of_1d
FROM generate_series(day(95), day(98), interval '1 day') d
CROSS JOIN LATERAL (SELECT target_id FROM jobstats.targets WHERE name = 'fs-OST0030') t
CROSS JOIN LATERAL (SELECT sum(write) AS write FROM jobstats.increments i WHERE i.target_id = t.target_id AND i."time" > d AND i."time" <= d + interval '1 day') i
CROSS JOIN LATERAL (SELECT sum(write) AS write FROM jobstats.increments_10m i WHERE i.target_id = t.target_id AND i.bucket > d AND i.bucket <= d + interval '1 day') m
CROSS JOIN LATERAL (SELECT sum(write) AS write FROM jobstats.increments_1h i WHERE i.target_id = t.target_id AND i.bucket > d AND i.bucket <= d + interval '1 day') h
CROSS JOIN LATERAL (SELECT sum(write) AS write FROM jobstats.increments_1d i WHERE i.target_id = t.target_id AND i.bucket > d AND i.bucket <= d + interval '1 day') r
ORDER BY d;
-- The same for days without increments: only days are shown.
SELECT jobstats_setup(raw_retention => '1 day', retention => '1 day', rollup_10m_retention => '30 days', refresh_lag => '0') IS NOT NULL AS ready;
CALL jobstats_maintain();
SELECT count(*) AS increments FROM jobstats.increments WHERE "time" <= day(98);
SELECT to_char("time", 'HH24:MI') AS "time", seconds, round(rate * seconds) AS write
FROM jobstats_rates(day(96), day(97), 'write', 'target', '6 hours', filter => 'target=fs-OST0030');
