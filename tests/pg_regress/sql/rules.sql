-- The rules of docs/rules.md as a feed applies them, by number. Tests of core have the laws behind them.
\i store.sql
\set ECHO all
\pset null '(null)'

-- Rules 3 and 4 by the examples of docs/proof.md.
BEGIN;
-- Without start_time: the previous text was complete and had the entry neither in it nor carried with it.
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('oss1', at(0), ost('fs-OST0000', record('a.1', 10, 40960))),
    ('oss1', at(2), ost('fs-OST0000', record('a.1', 10, 40960), record('b.1', 3, 12288)));
SELECT entry, since, until, reset, write, write_bytes FROM increments;
ROLLBACK;
-- 100, 150, 40, 60 are 50, 40 and 20 more.
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('oss1', at(0), ost('fs-OST0000', record('a.1', 100, 409600))),
    ('oss1', at(2), ost('fs-OST0000', record('a.1', 150, 614400))),
    ('oss1', at(4), ost('fs-OST0000', record('a.1', 40, 163840))),
    ('oss1', at(6), ost('fs-OST0000', record('a.1', 60, 245760)));
SELECT since, until, reset, write, write_bytes FROM increments;
-- A later start_time shows it, though the counters are larger than before.
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES
    ('dated', 'mds1', at(0), mdt('fs-MDT0000', life('x.1', at(-5), 10, 100))),
    ('dated', 'mds1', at(2), mdt('fs-MDT0000', life('x.1', at(1), 30, 300)));
SELECT since, until, reset, open, open_usecs FROM increments WHERE cluster = 'dated';

-- Each of the others has a separate cluster: snapshots by server and minute, and their increments.
CREATE TYPE snapshot AS (server text, minute numeric, body text);
CREATE FUNCTION fed(rule text, VARIADIC snapshots snapshot[])
RETURNS TABLE (entry text, since numeric, until numeric, reset boolean, write bigint, punch bigint, open bigint) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO jobstats.feed (cluster, server, "time", body) SELECT rule, s.server, at(s.minute), s.body FROM unnest(snapshots) s;
    -- A function in SQL would be planned before the INSERT creates chunks.
    RETURN QUERY SELECT i.entry, i.since, i.until, i.reset, i.write, i.punch, i.open FROM increments i WHERE i.cluster = rule;
END
$$;

-- Rule 1: an idle entry has no row. A row of more than six hours is divided at full hours.
SELECT * FROM fed('1', ('oss1', -430, ost('fs-OST0000', record('a.1', 1, 4096))),
    ('oss1', 0, ost('fs-OST0000', record('a.1', 1, 4096), record('b.1', 86, 352256), record('idle.1', 0, 0))));

-- Rule 3: after an incomplete snapshot only a later start_time proves a birth; z is a baseline.
SELECT * FROM fed('3 birth', ('mds1', 0, mdt('fs-MDT0000', life('x.1', at(-5), 10, 100)) || 'cut'),
    ('mds1', 2, mdt('fs-MDT0000', life('x.1', at(-5), 10, 100), life('y.1', at(1), 5, 50), life('z.1', at(-1), 7, 70))));
-- A skipped record goes on from where it was last seen.
SELECT * FROM fed('3 skipped', ('oss1', 0, ost('fs-OST0000', record('a.1', 10, 40960), record('b.1', 5, 20480))),
    ('oss1', 2, ost('fs-OST0000', record('a.1', 11, 45056))),
    ('oss1', 4, ost('fs-OST0000', record('a.1', 12, 49152), record('b.1', 7, 28672))));
SELECT r.carried ~ 'job_id: +b.1\n' AS is_b, to_timestamp(substring(r.carried, 'last_seen: +(\d+)')::bigint) = at(0) AS last_seen
FROM jobstats.raw_text r JOIN jobstats.targets t USING (target_id) WHERE t.cluster = '3 skipped' AND r."time" = at(2);
-- Without start_time it is carried for 1.5 cleanup intervals: 15 minutes, or as long as the snapshot gives.
SELECT * FROM fed('3 forgotten', ('oss1', 0, ost('fs-OST0000', record('a.1', 10, 40960), record('b.1', 5, 20480))),
    ('oss1', 14, ost('fs-OST0000', record('a.1', 10, 40960))), ('oss1', 15, ost('fs-OST0000', record('a.1', 10, 40960))),
    ('oss1', 16, ost('fs-OST0000', record('a.1', 10, 40960), record('b.1', 7, 28672))));
SELECT * FROM fed('3 interval', ('oss1', 0, E'obdfilter.fs-OST0000.job_cleanup_interval=1200\n'
        || ost('fs-OST0000', record('a.1', 10, 40960), record('b.1', 5, 20480))),
    ('oss1', 14, ost('fs-OST0000', record('a.1', 10, 40960))), ('oss1', 15, ost('fs-OST0000', record('a.1', 10, 40960))),
    ('oss1', 16, ost('fs-OST0000', record('a.1', 10, 40960), record('b.1', 7, 28672))));
-- With start_time it is carried for a day.
SELECT * FROM fed('3 day', ('mds1', 0, mdt('fs-MDT0000', life('x.1', at(-9), 1, 10), life('y.1', at(-9), 5, 50))),
    ('mds1', 19, mdt('fs-MDT0000', life('x.1', at(-9), 1, 10))), ('mds1', 39, mdt('fs-MDT0000', life('x.1', at(-9), 1, 10))),
    ('mds1', 40, mdt('fs-MDT0000', life('x.1', at(-9), 1, 10), life('y.1', at(-9), 9, 90))));
-- Where every remaining entry restarted, so did the missing ones.
SELECT * FROM fed('3 restarted', ('oss1', 0, ost('fs-OST0000', record('a.1', 10, 40960), record('b.1', 5, 20480))),
    ('oss1', 2, ost('fs-OST0000', record('a.1', 3, 12288))),
    ('oss1', 4, ost('fs-OST0000', record('a.1', 3, 12288), record('b.1', 7, 28672))));
-- Cut in the record of b: b keeps its known punches, c is carried even to another server, d is a baseline.
SELECT * FROM fed('3 cut', ('oss1', 0, ost('fs-OST0000', record('a.1', 10, 40960, 1), record('b.1', 5, 20480, 2), record('c.1', 8, 32768, 3))),
    ('oss2', 2, left(ost('fs-OST0000', record('a.1', 11, 45056, 1), record('b.1', 6, 24576, 4)), -20)),
    ('oss2', 4, ost('fs-OST0000', record('a.1', 12, 49152, 1), record('b.1', 6, 24576, 4), record('c.1', 9, 36864, 3), record('d.1', 9, 36864))));
-- Cut between two records, behind which b began.
SELECT * FROM fed('3 end', ('mds1', 0, mdt('fs-MDT0000', life('a.1', at(-9), 10, 10))),
    ('mds1', 2, mdt('fs-MDT0000', life('a.1', at(-9), 11, 11), life('b.1', at(1), 3, 3))),
    ('mds1', 4, mdt('fs-MDT0000', life('a.1', at(-9), 12, 12))),
    ('mds1', 6, mdt('fs-MDT0000', life('a.1', at(-9), 12, 12), life('b.1', at(1), 8, 8), life('c.1', at(3), 7, 7))));
-- Complete: b was idle for longer than ten minutes, so Lustre may have dropped it.
SELECT * FROM fed('3 idle', ('mds1', 0, mdt('fs-MDT0000', life('a.1', at(-9), 10, 10), life('b.1', at(-9), 3, 3))),
    ('mds1', 2, mdt('fs-MDT0000', life('a.1', at(-9), 11, 11))));
-- An error message about the target makes its snapshot incomplete, one about another parameter does not.
SELECT * FROM fed('3 failed', ('oss1', 0, ost('fs-OST0000', record('a.1', 10, 40960), record('b.1', 5, 20480))),
    ('oss1', 2, ost('fs-OST0000') || E'error: read_param: ''/proc/fs/lustre/obdfilter/fs-OST0000/job_stats'': Interrupted system call\n'),
    ('oss1', 4, ost('fs-OST0000', record('a.1', 11, 45056), record('b.1', 6, 24576), record('c.1', 7, 28672))),
    ('oss1', 6, ost('fs-OST0000', record('a.1', 11, 45056)) || E'error: read_param: ''/proc/fs/lustre/obdfilter/fs-OST0000/brw_stats'': Interrupted system call\n'),
    ('oss1', 8, ost('fs-OST0000', record('a.1', 11, 45056), record('b.1', 6, 24576), record('d.1', 1, 4096))));

-- Rule 4: a reset to zeros has no row; one counter that fell shows that all restarted.
SELECT * FROM fed('4 zeros', ('oss1', 0, ost('fs-OST0000', record('a.1', 9, 36864), record('b.1', 100, 409600, 5))),
    ('oss1', 2, ost('fs-OST0000', record('a.1', 0, 0), record('b.1', 110, 450560, 1))),
    ('oss1', 3, ost('fs-OST0000', record('a.1', 7, 28672), record('b.1', 110, 450560, 1))));
-- Within an epoch a counter cannot fall: the known value stays.
SELECT * FROM fed('4 fell', ('mds1', 0, mdt('fs-MDT0000', life('x.1', at(-5), 10, 100))),
    ('mds1', 2, mdt('fs-MDT0000', life('x.1', at(-5), 8, 80))), ('mds1', 4, mdt('fs-MDT0000', life('x.1', at(-5), 12, 120))));
-- An entry that Lustre dropped and that came back begins where a complete snapshot lacked it.
SELECT * FROM fed('4 back', ('oss1', 11, ost('fs-OST0000', record('a.1', 1, 4096), record('b.1', 9, 36864))),
    ('oss1', 12, ost('fs-OST0000', record('a.1', 1, 4096))),
    ('oss1', 19, ost('fs-OST0000', record('a.1', 1, 4096), record('b.1', 6, 24576))));

-- Rule 5: two epochs by start_time. Without it identical records count once, and of different ones the later counts.
SELECT * FROM fed('5 lives', ('mds1', 0, mdt('fs-MDT0000', life('x.1', at(-5), 10, 100))),
    ('mds1', 2, mdt('fs-MDT0000', life('x.1', at(-5), 13, 130), life('x.1', at(1), 2, 20))),
    ('mds1', 4, mdt('fs-MDT0000', life('x.1', at(1), 3, 30))));
SELECT * FROM fed('5 doubled', ('oss1', 0, ost('fs-OST0000', record('a.1', 1, 4096), record('a.1', 1, 4096))),
    ('oss1', 2, ost('fs-OST0000', record('a.1', 3, 12288), record('b.1', 1, 4096), record('a.1', 4, 16384))));

-- Rule 9: on another server counters restart, and without start_time no record is carried there.
SELECT * FROM fed('9', ('oss1', 0, ost('fs-OST0000', record('a.1', 10, 40960), record('b.1', 5, 20480))),
    ('oss1', 2, ost('fs-OST0000', record('a.1', 12, 49152), record('b.1', 6, 24576))),
    ('oss2', 4, ost('fs-OST0000', record('b.1', 2, 8192), record('c.1', 1, 4096))),
    ('oss2', 6, ost('fs-OST0000', record('a.1', 3, 12288), record('b.1', 4, 16384), record('c.1', 1, 4096))));
-- Rule 8 allows snapshots of both servers in another order.
SELECT count(*) FROM fed('9 crossed', ('oss1', 0, ost('fs-OST0000', record('a.1', 10, 40960), record('b.1', 5, 20480))),
    ('oss2', 4, ost('fs-OST0000', record('b.1', 2, 8192), record('c.1', 1, 4096))),
    ('oss1', 2, ost('fs-OST0000', record('a.1', 12, 49152), record('b.1', 6, 24576))),
    ('oss2', 6, ost('fs-OST0000', record('a.1', 3, 12288), record('b.1', 4, 16384), record('c.1', 1, 4096))));
SELECT * FROM differences('9', '9 crossed');

-- Rule 10: seconds since boot distinguish epochs and are no dates.
SELECT * FROM fed('10', ('mds1', 0, mdt('fs-MDT0000', life('x.1', to_timestamp(100), 10, 100))),
    ('mds1', 2, mdt('fs-MDT0000', life('x.1', to_timestamp(500), 30, 300), life('y.1', to_timestamp(500), 1, 10))));

SELECT cluster, "time", entries, active, added, resets, removed, carried, unknown, problems FROM observations
WHERE added + resets + removed + carried + unknown + problems > 0;
TABLE rejects;

-- Rule 8: snapshots of an OST and an MDT. Entries are skipped and come back (b, y), are born (c, y, z) and restart (x, y).
CREATE TABLE snapshots (minute integer, body text);
INSERT INTO snapshots VALUES
    (0, ost('fs-OST0000', record('a.1', 10, 40960), record('b.1', 5, 20480))
        || mdt('fs-MDT0000', life('x.1', at(-5), 10, 100))),
    (2, ost('fs-OST0000', record('a.1', 12, 49152), record('b.1', 6, 24576))
        || mdt('fs-MDT0000', life('x.1', at(-5), 12, 120), life('y.1', at(1), 4, 40))),
    (4, ost('fs-OST0000', record('a.1', 15, 61440), record('c.1', 1, 4096))
        || mdt('fs-MDT0000', life('x.1', at(3), 2, 20))),
    (6, ost('fs-OST0000', record('a.1', 15, 61440), record('c.1', 1, 4096))
        || mdt('fs-MDT0000', life('x.1', at(3), 2, 20), life('y.1', at(1), 5, 50))),
    (8, ost('fs-OST0000', record('a.1', 16, 65536), record('b.1', 9, 36864), record('c.1', 3, 12288))
        || mdt('fs-MDT0000', life('x.1', at(3), 5, 50), life('y.1', at(7), 1, 10))),
    (22, ost('fs-OST0000', record('a.1', 30, 122880), record('b.1', 9, 36864), record('c.1', 3, 12288))
        || mdt('fs-MDT0000', life('x.1', at(3), 6, 60), life('y.1', at(7), 7, 70), life('z.1', at(9), 1, 10))),
    (34, ost('fs-OST0000', record('a.1', 50, 204800), record('b.1', 12, 49152), record('c.1', 3, 12288))
        || mdt('fs-MDT0000', life('x.1', at(3), 16, 160), life('y.1', at(7), 7, 70), life('z.1', at(9), 1, 10)));
INSERT INTO jobstats.feed (cluster, server, "time", body) SELECT '8', 'n1', at(minute), body FROM snapshots ORDER BY minute;
SELECT target, entry, since, until, reset, write, open FROM increments WHERE cluster = '8';
-- A late snapshot changes the following ones, until their rows stay the same: b was carried from minute 2 up to 8.
INSERT INTO jobstats.feed (cluster, server, "time", body) SELECT '8 late', 'n1', at(minute), body FROM snapshots WHERE minute <> 2 ORDER BY minute;
BEGIN;
SELECT i.target, i.action, i.increments FROM snapshots, jobstats_ingest('8 late', 'n1', at(minute), body) i WHERE minute = 2;
SELECT t.name AS target, array_agg(minute(r."time") ORDER BY r."time") AS computed
FROM jobstats.raw r JOIN jobstats.targets t USING (target_id)
WHERE r.xmin = pg_current_xact_id()::xid GROUP BY t.name ORDER BY t.name;
COMMIT;
SELECT * FROM differences('8', '8 late');
-- Any order gives the same.
SET client_min_messages = error;
INSERT INTO jobstats.feed (cluster, server, "time", body) SELECT '8 reversed', 'n1', at(minute), body FROM snapshots ORDER BY minute DESC;
SELECT * FROM differences('8', '8 reversed');
INSERT INTO jobstats.feed (cluster, server, "time", body) SELECT '8 mixed', 'n1', at(minute), body FROM snapshots ORDER BY minute % 4 DESC, minute;
SELECT * FROM differences('8', '8 mixed');

-- The raw text gives the same again.
SELECT * FROM jobstats_audit(at(-600), at(120));

-- All are rejected: another server; a start_time later than after, earlier than before; a counter that would fall, one that would restart;
-- older than the raw text; the future; another text of the same time.
CREATE FUNCTION late(n integer, server text, "time" timestamptz, body text) RETURNS TABLE (n integer, action text) LANGUAGE sql AS $$
SELECT n, string_agg(i.action, ', ') FROM jobstats_ingest('8 late', server, "time", body) i
$$;
SELECT late(1, 'n2', at(5), ost('fs-OST0000', record('a.1', 15, 61440))),
    late(2, 'n1', at(5), mdt('fs-MDT0000', life('x.1', at(4), 2, 20))), late(3, 'n1', at(5), mdt('fs-MDT0000', life('x.1', at(-5), 12, 120))),
    late(4, 'n1', at(5), mdt('fs-MDT0000', life('x.1', at(3), 9, 90))), late(5, 'n1', at(5), ost('fs-OST0000', record('a.1', 20, 81920))),
    late(6, 'n1', at(-60 * 50), ost('fs-OST0000', record('a.1', 1, 4096))),
    late(7, 'n1', now() + interval '6 minutes', ost('fs-OST0000', record('a.1', 60, 245760))), late(8, 'n1', at(4), ost('fs-OST0000', record('a.1', 15, 61440)));
SELECT * FROM differences('8', '8 late');
SELECT * FROM wrong_spans();
-- So it is where the raw text before is gone, and then the observation that the next one was compared with.
DELETE FROM jobstats.raw WHERE "time" = at(2) AND target_id = (SELECT target_id FROM jobstats.targets WHERE (cluster, name) = ('8 late', 'fs-OST0000'));
SELECT late(9, 'n1', at(3), ost('fs-OST0000', record('a.1', 13, 53248), record('c.1', 1, 4096)));
DELETE FROM jobstats.observations WHERE "time" = at(2) AND target_id = (SELECT target_id FROM jobstats.targets WHERE (cluster, name) = ('8 late', 'fs-OST0000'));
SELECT late(10, 'n1', at(3), ost('fs-OST0000', record('a.1', 13, 53248), record('c.1', 1, 4096)));
SELECT target, CASE WHEN "time" < 60 THEN "time" END AS "time", reason, text FROM rejects WHERE cluster = '8 late' ORDER BY reason, rejects."time", target, text;
-- Rule 3: where the raw text is gone, only a start_time proves a birth.
DELETE FROM jobstats.raw WHERE "time" = at(34);
SELECT f.* FROM fed('8', ('n1', 36, ost('fs-OST0000', record('a.1', 51, 208896), record('d.1', 1, 4096))
    || mdt('fs-MDT0000', life('x.1', at(3), 17, 170), life('n.1', at(35), 1, 10)))) f WHERE f.until = 36;
-- A late snapshot does not change the cleanup interval.
SELECT late(11, 'n1', now() - n * interval '1 minute', format(E'obdfilter.other-OST0000.job_cleanup_interval=%s\nobdfilter.other-OST0000.job_stats=job_stats:\n', 300 * n))
FROM generate_series(1, 2) n;
SELECT cleanup_interval FROM jobstats.targets WHERE name = 'other-OST0000';
-- The clock of a server goes back an hour when a new entry is active (Lustre up to 2.14): no snapshot after that time shows the entry.
CREATE FUNCTION busy(minute numeric, writes integer) RETURNS text LANGUAGE sql STABLE STRICT AS $$
SELECT ost('fs-OST0000', record('bg.0', 5, 20480), record('77:1000:n1', writes, writes * 4096, 0, extract(epoch FROM at(minute - 0.5))::bigint))
$$;
SELECT n, action FROM (VALUES (1, -60, NULL), (2, 0, NULL), (3, 2, NULL), (4, 4, NULL), (5, 60, 300), (6, 1, 400), (7, 62, 500)) AS f (n, minute, writes),
    jobstats_ingest('clock', 'n1', at(minute), coalesce(busy(minute, writes), ost('fs-OST0000', record('bg.0', 5, 20480)))) ORDER BY n;
SELECT entry, sum(write) FROM increments WHERE cluster = 'clock' GROUP BY entry;
RESET client_min_messages;

-- Rules 12 and 13: windows and steps that begin at odd microseconds give what increments give, from any rollup.
SELECT jobstats_setup(raw_retention => '100 years', retention => '100 years') IS NOT NULL AS ready \gset
CREATE FUNCTION feed(target text, "time" timestamptz) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT '13', 'oss1', feed."time", ost(target, record('a.1', seconds, seconds * 4096), record('b.2', seconds / 1000, seconds))
FROM (SELECT extract(epoch FROM feed."time" - '2025-10-20')::bigint) s (seconds)
$$;
SELECT count(feed('fs-OST0000', t)) FROM generate_series(timestamptz '2025-10-24 00:07:00.000003', '2025-10-26 12:00', interval '7 minutes') t;
SELECT count(feed('fs-OST0001', t)) FROM generate_series(timestamptz '2025-10-24 01:00:00.7', '2025-10-26 12:00', interval '11 minutes') t
WHERE t NOT BETWEEN '2025-10-25 03:00' AND '2025-10-25 06:00';
CALL jobstats_maintain();
-- Of each row, its value at the edges, rounded down.
CREATE FUNCTION reached(value bigint, since timestamptz, "time" timestamptz, edge timestamptz) RETURNS numeric LANGUAGE sql AS $$
SELECT floor(value * extract(epoch FROM least(greatest(edge, since), "time") - since)::numeric / extract(epoch FROM "time" - since)::numeric)
$$;
CREATE FUNCTION expected(since timestamptz, until timestamptz) RETURNS TABLE (target text, uid bigint, total numeric) LANGUAGE sql AS $$
SELECT * FROM (
    SELECT t.name, e.uid, sum(reached(i.write_bytes, i.since, i."time", expected.until) - reached(i.write_bytes, i.since, i."time", expected.since)) AS total
    FROM jobstats.increments i JOIN jobstats.entries e USING (entry_id) JOIN jobstats.targets t USING (target_id)
    WHERE t.cluster = '13' AND i."time" > expected.since AND i.since < expected.until GROUP BY 1, 2) r
WHERE r.total > 0
$$;
CREATE TABLE windows AS
SELECT row_number() OVER () AS n, since::timestamptz, until::timestamptz, step::interval FROM (VALUES
    ('2025-10-24 06:17:31.234567', '2025-10-26 01:02:03.000004', '1 day'),
    ('2025-10-24 23:59:59.999999', '2025-10-25 00:00:00.000001', '1 hour'),
    ('2025-10-24 12:00:00.000001', '2025-10-25 11:59:59.999999', '20 minutes'),
    ('2025-10-25 02:51:00.5', '2025-10-25 07:09:00.25', '7 minutes')) w (since, until, step);
-- Rollups by user and by entry, in steps and for the whole window.
CREATE TABLE steps AS
SELECT w.n, b.by, r."time", r."time" + r.seconds * interval '1 second' AS until, d.target, coalesce(d.uid, substring(d.workload, '\d$')::bigint) AS uid, r.total,
    r.rate * r.seconds AS if_observed, r.coverage
FROM windows w, (VALUES ('target,uid'), ('target,workload')) b (by), jobstats_rates(w.since, w.until, 'write_bytes', b.by, w.step, filter => 'cluster=13') r, dims(r.labels) d
UNION ALL
SELECT w.n, b.by, w.since, w.until, d.target, coalesce(d.uid, substring(d.workload, '\d$')::bigint), t.total, NULL, NULL
FROM windows w, (VALUES ('target,uid'), ('target,workload')) b (by), jobstats_totals(w.since, w.until, 'write_bytes', b.by, filter => 'cluster=13') t, dims(t.labels) d
WHERE t.total > 0;
SELECT n, count(DISTINCT ("time", until)) AS windows, min("time") AS first, max(until) AS last, sum(total) > 0 AS any FROM steps GROUP BY n ORDER BY n;
CREATE TABLE expected AS
SELECT s.n, s.by, s."time", s.until, e.* FROM (SELECT DISTINCT n, by, "time", until FROM steps) s, expected(s."time", s.until) e;
(SELECT n, by, "time", until, target, uid, total FROM steps EXCEPT TABLE expected)
UNION ALL (TABLE expected EXCEPT SELECT n, by, "time", until, target, uid, total FROM steps);
SELECT * FROM steps WHERE total NOT BETWEEN if_observed * coverage * (1 - 1e-9) AND if_observed * (coverage + 0.0001);
-- Steps are multiples on the clocks of the session; months begin on their first day, and have no fixed number of days.
SET TimeZone = 'Europe/Helsinki';
SELECT "time", seconds / 3600 AS hours FROM jobstats_rates('2025-10-24 18:00', '2025-10-27 06:00', 'write', '', '1 day', filter => 'cluster=13');
SELECT "time", seconds / 3600 AS hours FROM jobstats_rates('2025-10-22', '2025-10-29', 'write', '', '1 week', filter => 'cluster=13');
SELECT "time", seconds / 3600 AS hours FROM jobstats_rates('2025-10-15', '2025-12-10', 'write', '', '1 month', filter => 'cluster=13');
SELECT count(*) FROM jobstats_rates('2025-10-15', '2025-12-10', 'write', '', '1 month 1 day');
SET TimeZone = 'UTC';

-- Text line by line: a damaged entry does not affect others.
\set damaged 'obdfilter.scratch-OST0000.job_stats=\njob_stats:\n- job_id:          cp.1\n  snapshot_time:   1381939592\n  read_bytes:      { samples:           1, unit: bytes, min:    4096, max:    4096, sum:            4096 }\n  setattr:         { samples:           7, unit:  reqs }\n- job_id:          dd.2\n  snapshot_time:   1381939640\n  read_bytes:      { samples:          -1, unit: bytes, min:    4096, max:    4096, sum:            4096 }\n  setattr:         { samples:           8, unit:  re\n- job_id:          mv.3\n  read_bytes:      { samples:           3, unit: bytes, min:    4096, max:    4096, sum:           12288 }\n  setattr:         { samples:           9, unit:  reqs }\n'
\pset null ''
SELECT line, target, entry, operation, samples, unit, sum, snapshot_time, problem, text FROM jobstats_parse(:'damaged');
SELECT to_jsonb(p) FROM jobstats_parse(E'job_stats:\n- job_id:          "1\\x3A2\\x3An"\n  snapshot_time:   1749555518.685497069 secs.nsecs\n  start_time:      1749555508.597767178 secs.nsecs\n  read_bytes:      { samples:  2, unit: bytes, min: 4096, max: 1048576, sum: 1052672, sumsq: 1099528404992, hist: { 4K: 1, 1M: 1 } }\n') p;
SELECT count(*) FROM jobstats_parse(NULL);
-- Identifiers by the given formats, else by the formats of the store.
SELECT format, job, uid, node, executable
FROM (VALUES ('%j:%u:%H'), ('%j?%e:%u:%H')) AS formats (tried), jobstats_identify('wget:1000:login1', ARRAY[tried]);
SELECT job, uid, node, format, status FROM jobstats_identify('1000:4711:n101', '{%u:%j:%H}');
SELECT * FROM jobstats_identify('wget.1000');
DELETE FROM jobstats.entry_formats;
SELECT e.entry, i.* FROM (VALUES ('wget.1000'), (NULL)) e (entry), jobstats_identify(e.entry) i;
SELECT * FROM jobstats_identify('a', '{no code}');
-- Names of jobs that differ in their numbers alone; every role may fold them.
CREATE ROLE regress_of_fold;
SET ROLE regress_of_fold;
SELECT jobstats_internal.fold('task_17') AS number, jobstats_internal.fold(regexp_replace('cromwell_3f9ab21c_align', '_[0-9a-f]{8}_', '_0_')) AS hexadecimal;
RESET ROLE;
DROP ROLE regress_of_fold;
CREATE INDEX ON snapshots (jobstats_internal.fold(body));
\set VERBOSITY sqlstate
SELECT jobstats_internal.fold(repeat('1', 1100000));
