-- Late text is placed where it belongs, and what follows from it is computed anew.
\getenv source PG_ABS_SRCDIR
\set store :source '/include/store.sql'
\set ECHO none
\i :store
\set ECHO all

-- Readings of an OST without and of an MDT with start_time. Entries are skipped and come back (b, y), are born (c, y, z)
-- and restart (x, y).
CREATE TABLE readings (minute integer, body text);
INSERT INTO readings VALUES
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
    (10, ost('fs-OST0000', record('a.1', 17, 69632), record('b.1', 9, 36864), record('c.1', 3, 12288))
        || mdt('fs-MDT0000', life('x.1', at(3), 6, 60), life('y.1', at(7), 1, 10), life('z.1', at(9), 1, 10))),
    (22, ost('fs-OST0000', record('a.1', 30, 122880), record('b.1', 9, 36864), record('c.1', 3, 12288))
        || mdt('fs-MDT0000', life('x.1', at(3), 6, 60), life('y.1', at(7), 7, 70), life('z.1', at(9), 1, 10))),
    (34, ost('fs-OST0000', record('a.1', 50, 204800), record('b.1', 12, 49152), record('c.1', 3, 12288))
        || mdt('fs-MDT0000', life('x.1', at(3), 16, 160), life('y.1', at(7), 7, 70), life('z.1', at(9), 1, 10)));

-- In order, for comparison.
INSERT INTO jobstats.feed (cluster, server, "time", body) SELECT 'in order', 'n1', at(minute), body FROM readings ORDER BY minute;
SELECT target, entry, since, until, observed, reset, write, write_bytes, open, open_usecs FROM increments;
TABLE observations;

-- One comes late. What follows is computed anew until nothing changes any more: b was carried from minute 2 up to 8.
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT 'one late', 'n1', at(minute), body FROM readings WHERE minute <> 2 ORDER BY minute;
SELECT entry, since, until, write FROM increments WHERE cluster = 'one late' AND target = 'fs-OST0000' AND observed IN (4, 8);
BEGIN;
SELECT i.target, i.action, i.increments FROM readings, jobstats_ingest('one late', 'n1', at(minute), body) i WHERE minute = 2;
SELECT t.name AS target, array_agg(minute(r."time") ORDER BY r."time") AS computed
FROM jobstats.raw r JOIN jobstats.targets t USING (target_id)
WHERE r.xmin = pg_current_xact_id()::xid GROUP BY t.name ORDER BY t.name;
COMMIT;
SELECT entry, since, until, write FROM increments WHERE cluster = 'one late' AND target = 'fs-OST0000' AND observed IN (4, 8);
SELECT * FROM differences('in order', 'one late');

-- Fed again it is known already.
SELECT i.target, i.action, i.increments FROM readings, jobstats_ingest('one late', 'n1', at(minute), body) i WHERE minute = 2;

-- Before the first, which was a baseline.
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT 'first late', 'n1', at(minute), body FROM readings ORDER BY minute = 0, minute;
SELECT * FROM differences('in order', 'first late');

-- A row of a long span that was divided at the edges of ten minutes.
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT 'across edges', 'n1', at(minute), body FROM readings WHERE minute <> 22 ORDER BY minute;
SELECT entry, since, until, write FROM increments WHERE cluster = 'across edges' AND target = 'fs-OST0000' AND observed = 34;
INSERT INTO jobstats.feed (cluster, server, "time", body) SELECT 'across edges', 'n1', at(minute), body FROM readings WHERE minute = 22;
SELECT entry, since, until, write FROM increments WHERE cluster = 'across edges' AND target = 'fs-OST0000' AND observed = 34;
SELECT * FROM differences('in order', 'across edges');

-- Any order gives the same.
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT 'reversed', 'n1', at(minute), body FROM readings ORDER BY minute DESC;
SELECT * FROM differences('in order', 'reversed');
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT 'every second', 'n1', at(minute), body FROM readings ORDER BY minute % 4, minute;
SELECT * FROM differences('in order', 'every second');
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT 'any order', 'n1', at(minute), body FROM readings ORDER BY md5(minute::text);
SELECT * FROM differences('in order', 'any order');
SELECT count(*) FROM jobstats.rejects;

-- What is stored is what the raw text says.
SELECT * FROM jobstats_audit(at(-60), at(120));

-- What cannot be older, or cannot be computed any more, is rejected and changes nothing.
CREATE FUNCTION late(server text, "time" timestamptz, body text) RETURNS text LANGUAGE sql AS $$
SELECT string_agg(i.action, ', ') FROM jobstats_ingest('one late', server, "time", body) i
$$;
-- The target was on another server before and after.
SELECT late('n2', at(5), ost('fs-OST0000', record('a.1', 15, 61440)));
-- x began later than in the text that follows; it began earlier than in the one before; its counter would fall.
SELECT late('n1', at(5), mdt('fs-MDT0000', life('x.1', at(4), 2, 20)));
SELECT late('n1', at(5), mdt('fs-MDT0000', life('x.1', at(-5), 12, 120)));
SELECT late('n1', at(5), mdt('fs-MDT0000', life('x.1', at(3), 9, 90)));
-- Without start_time: a goes on from 4 to 6, but would restart after this.
SELECT late('n1', at(5), ost('fs-OST0000', record('a.1', 20, 81920)));
-- Older than raw text is kept.
SELECT late('n1', at(-60 * 50), ost('fs-OST0000', record('a.1', 1, 4096)));
-- The future.
SELECT late('n1', now() + interval '6 minutes', ost('fs-OST0000', record('a.1', 60, 245760)));
-- Another text of the same time.
SELECT late('n1', at(4), ost('fs-OST0000', record('a.1', 15, 61440)));
SELECT * FROM differences('in order', 'one late');

SELECT * FROM wrong_spans();
-- Retention has taken the text before, or the observation that the one after was compared with.
DELETE FROM jobstats.raw WHERE "time" = at(2) AND target_id = (SELECT target_id FROM jobstats.targets WHERE (cluster, name) = ('one late', 'fs-OST0000'));
SELECT late('n1', at(3), ost('fs-OST0000', record('a.1', 13, 53248), record('c.1', 1, 4096)));
DELETE FROM jobstats.observations WHERE "time" = at(2) AND target_id = (SELECT target_id FROM jobstats.targets WHERE (cluster, name) = ('one late', 'fs-OST0000'));
SELECT late('n1', at(3), ost('fs-OST0000', record('a.1', 13, 53248), record('c.1', 1, 4096)));

SELECT server, target, CASE WHEN "time" < 60 THEN "time" END AS "time", line, reason, text FROM rejects ORDER BY "time", target, text;

-- A late text does not say which cleanup interval holds now.
SELECT late('n1', now() - interval '1 minute', E'obdfilter.other-OST0000.job_cleanup_interval=300\nobdfilter.other-OST0000.job_stats=job_stats:\n');
SELECT late('n1', now() - interval '2 minutes', E'obdfilter.other-OST0000.job_cleanup_interval=600\nobdfilter.other-OST0000.job_stats=job_stats:\n');
SELECT cleanup_interval FROM jobstats.targets WHERE name = 'other-OST0000';

-- The clock of a server goes back an hour when a new entry has been at work (Lustre up to 2.14): no text after that time shows the entry.
CREATE FUNCTION busy(minute numeric, writes integer) RETURNS text LANGUAGE sql STABLE STRICT AS $$
SELECT ost('fs-OST0000', record('bg.0', 5, 20480), record('77:1000:n1', writes, writes * 4096, 0, extract(epoch FROM at(minute - 0.5))::bigint))
$$;
SELECT n, action FROM (VALUES (1, -60, NULL), (2, 0, NULL), (3, 2, NULL), (4, 4, NULL), (5, 60, 300), (6, 1, 400), (7, 62, 500)) AS f (n, minute, writes),
    jobstats_ingest('clock', 'n1', at(minute), coalesce(busy(minute, writes), ost('fs-OST0000', record('bg.0', 5, 20480)))) ORDER BY n;
SELECT entry, sum(write) FROM increments WHERE cluster = 'clock' GROUP BY entry;
