-- A day of late text leaves thousands of spans in jobstats.dirty: the live views merge them, and stay exact and fast.
\i reading.sql
\i processor.sql
\set ECHO all
SELECT jobstats_setup(raw_retention => '100 years', retention => '100 years', compress_after => '100 years') IS NOT NULL AS ready;

-- Fourteen entries write in every ten minutes of a day on one target, and one of them on another.
SELECT world.observe('', target, 'oss1', ARRAY(SELECT world.at(minute) FROM generate_series(0, 1440, 10) minute))
FROM unnest('{fs-OST0000,fs-OST0001}'::text[]) target \g /dev/null
SELECT world.act('', target, 'a.' || uid, world.at(minute - 10), world.at(minute), '{"write": 3}')
FROM generate_series(10, 1440, 10) minute, generate_series(1, 14) uid, unnest('{fs-OST0000,fs-OST0001}'::text[]) target
WHERE uid = 1 OR target = 'fs-OST0000' \g /dev/null
CALL jobstats_maintain();
SELECT level, refreshed > world.at(1440) AS refreshed FROM jobstats.rollups ORDER BY width;

CREATE VIEW world.live AS
SELECT '10m' AS level, target_id, bucket, entry_id, write FROM jobstats.increments_10m
UNION ALL SELECT '1h', target_id, bucket, entry_id, write FROM jobstats.increments_1h
UNION ALL SELECT '1d', target_id, bucket, entry_id, write FROM jobstats.increments_1d;
CREATE TABLE world.before AS TABLE world.live;
SELECT level, count(*), sum(write) FROM world.before GROUP BY level ORDER BY level;

-- Text that is read every four seconds, and comes a day late. Comparing a row for each of them with each row of a rollup took half a
-- minute.
INSERT INTO jobstats.dirty (target_id, span_from, span_to)
SELECT t.target_id, world.at(0) + n * interval '4 seconds', world.at(0) + (n + 1) * interval '4 seconds'
FROM jobstats.targets t, generate_series(0, 21599) n WHERE t.name = 'fs-OST0000';
SELECT processor() AS before \gset
(TABLE world.before EXCEPT ALL TABLE world.live) UNION ALL (TABLE world.live EXCEPT ALL TABLE world.before);
SELECT total FROM (SELECT * FROM jobstats_totals(world.at(0), world.at(1440), 'write', 'target') r, dims(r.labels)) AS jobstats_totals ORDER BY target;
SELECT processor() - :before < 10 AS soon;

-- Dirty spans are read from increments, for this target and bucket only.
BEGIN;
DELETE FROM jobstats.dirty;
INSERT INTO jobstats.dirty (target_id, span_from, span_to)
SELECT t.target_id, world.at(from_minute), world.at(to_minute)
FROM jobstats.targets t, (VALUES (12, 13), (13, 14), (30, 31)) v (from_minute, to_minute) WHERE t.name = 'fs-OST0000';
UPDATE jobstats.increments SET write = 4;
SELECT l.target_id, extract(epoch FROM l.bucket - world.at(0))::integer / 60 AS minute, count(*), min(l.write), max(l.write)
FROM world.live l LEFT JOIN world.before b USING (level, target_id, bucket, entry_id, write)
WHERE l.level = '10m' AND b.write IS NULL GROUP BY 1, 2 ORDER BY 1, 2;
SELECT l.level, l.target_id, extract(epoch FROM l.bucket - world.at(0))::integer / 60 AS minute, count(*), min(l.write), max(l.write)
FROM world.live l LEFT JOIN world.before b USING (level, target_id, bucket, entry_id, write)
WHERE l.level <> '10m' AND b.write IS NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
ROLLBACK;
