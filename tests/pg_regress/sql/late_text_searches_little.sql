-- Late text changes what follows it, and no more: neither the search for increments to replace nor what rollups compute again
-- reaches back to where entries were last seen that are only remembered.
\i store.sql
\set ECHO all
SELECT jobstats_setup(raw_retention => '100 years', retention => '100 years') IS NOT NULL AS ready;
UPDATE texts.clock SET zero = '2025-11-03 00:00+00';

-- An MDT that is read every ten minutes from 00:00 to 20:00. The entry x ends at 00:10 and is remembered for a day. y ends at
-- 15:00 and comes back at 17:00. w is there at 18:20 alone. z works all the time.
CREATE FUNCTION body(minute integer) RETURNS text LANGUAGE sql AS $$
SELECT mdt('fs-MDT0000', life('z.1', at(-5), minute + 1, 10),
    CASE WHEN minute <= 10 THEN life('x.1', at(-5), minute + 1, 10) END,
    CASE WHEN minute NOT BETWEEN 901 AND 1019 THEN life('y.1', at(-5), minute + 1, 10) END,
    CASE WHEN minute = 1100 THEN life('w.1', at(1095), minute + 1, 10) END)
$$;
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT 'c', 'n1', at(minute), body(minute) FROM generate_series(0, 1200, 10) AS minute WHERE minute <> 1100;
CALL jobstats_maintain();
TABLE jobstats.dirty;

-- At 18:20, where w, y and z were active: rows from 18:10 to 18:30 change. Later observations carry w too, and their rows are not written
-- again.
CREATE TABLE was AS SELECT tableoid AS part, ctid AS place, observed FROM jobstats.increments;
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES ('c', 'n1', at(1100), body(1100));
SELECT minute(min(span_from)) AS since, minute(max(span_to)) AS until FROM jobstats.dirty;
SELECT minute(observed) AS observed, count(*) FROM jobstats.increments
WHERE (tableoid, ctid, observed) NOT IN (TABLE was) GROUP BY 1 ORDER BY 1;
SELECT minute("time") AS observed, carried FROM jobstats.observations WHERE "time" >= at(1090) ORDER BY 1;
SELECT * FROM jobstats_audit(at(-60), at(1300));
CALL jobstats_maintain();

-- At 16:55, before y comes back at 17:00: its rows begin at 15:00, when y was last seen, and are replaced from there on.
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES ('c', 'n1', at(1015), body(1015));
SELECT minute(min(span_from)) AS since, minute(max(span_to)) AS until FROM jobstats.dirty;
SELECT entry, since, until, open FROM increments WHERE entry = 'y.1' AND observed = 1020;
SELECT * FROM jobstats_audit(at(-60), at(1300));

-- All of it equals a store with texts in order.
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT 'in order', 'n1', at(minute), body(minute)
FROM (SELECT generate_series(0, 1200, 10) UNION ALL SELECT 1015 ORDER BY 1) m (minute);
SELECT * FROM differences('in order', 'c');
SELECT * FROM wrong_spans();
