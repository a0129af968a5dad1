-- Rows of days that lacked a partition are moved into one, and questions about now open few of many partitions.
\i store.sql
\set ECHO all
SET client_min_messages = error;
SELECT jobstats_setup(raw_retention => '100 days', retention => '100 days') IS NOT NULL AS ready \gset
-- Where TimescaleDB keeps the tables, they have no default partition.
CREATE FUNCTION strays(relation text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    found bigint := 0;
BEGIN
    IF to_regclass(format('jobstats.%I', relation || '_default')) IS NOT NULL THEN
        EXECUTE format('SELECT count(*) FROM jobstats.%I', relation || '_default') INTO found;
    END IF;
    RETURN found;
END
$$;
CREATE FUNCTION is_divided() RETURNS boolean LANGUAGE sql AS $$ SELECT to_regclass('jobstats.raw_default') IS NOT NULL $$;
CREATE FUNCTION feed(days integer, minutes integer[]) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', at(m) - days * interval '1 day', ost('fs-OST0000', record('a.1', 10 + m, 4096)) FROM unnest(minutes) AS m
$$;

-- A backlog of five days, and of the day before these.
SELECT feed(6, '{0,20}'), feed(5, '{0,20,40}');
SELECT relation, strays(relation) > 0 OR NOT is_divided() AS strays FROM unnest('{raw,observations,increments}'::text[]) AS relation;
CREATE TABLE before AS SELECT * FROM jobstats.increments;
CALL jobstats_maintain();
SELECT relation, strays(relation) FROM unnest('{raw,observations,increments}'::text[]) AS relation;
SELECT count(*) AS moved FROM (SELECT * FROM jobstats.increments INTERSECT ALL SELECT * FROM before) i;
SELECT (SELECT count(*) FROM before) - (SELECT count(*) FROM jobstats.increments) AS lost;
-- Late text finds the moved rows.
SELECT feed(5, '{30,40}');
SELECT minute(since + interval '5 days') AS since, minute("time" + interval '5 days') AS "time", entries
FROM jobstats.observations WHERE "time" > at(0) - interval '5 days' ORDER BY "time";
SELECT count(*) AS findings FROM jobstats_audit(at(0) - interval '6 days', at(0));

-- Of a day with many rows a part is moved at a time; each of them is there at all times.
INSERT INTO jobstats.raw (target_id, "time", server, body, carried)
SELECT -1, date_trunc('day', now()) - interval '20 days' + n * interval '1 microsecond', 'oss9', '', NULL FROM generate_series(1, 200500) AS n;
SELECT jobstats_internal.add_partitions('raw', 'day', now(), now(), true) = is_divided()::integer AS made;
SELECT strays('raw') = 500 OR NOT is_divided() AS moved, count(*), count(DISTINCT "time") AS times FROM jobstats.raw WHERE target_id = -1;
SELECT jobstats_internal.add_partitions('raw', 'day', now(), now(), true) AS made;
SELECT strays('raw'), count(*), count(DISTINCT "time") AS times FROM jobstats.raw WHERE target_id = -1;
DELETE FROM jobstats.raw WHERE target_id = -1;

-- A store of 90 days.
DO $$ BEGIN
    PERFORM jobstats_internal.add_partitions(c.relname, CASE WHEN c.relname ~ '_1h' THEN 'month' WHEN c.relname ~ '_1d' THEN 'year' ELSE 'day' END,
        now() - interval '90 days', now())
    FROM pg_class c WHERE c.relnamespace = 'jobstats'::regnamespace AND c.relkind = 'p';
END $$;
SELECT feed(0, '{0,20,40,60,80,100,120,140,160}');
CALL jobstats_maintain();
CREATE FUNCTION locks() RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() $$;
BEGIN;
SELECT count(*) > 0 AS shown FROM jobstats.health WHERE target = 'fs-OST0000';
SELECT locks() <= 150 AS few;
COMMIT;
BEGIN;
SELECT jobstats_metrics() LIKE '%fs-OST0000%' AS shown;
SELECT locks() <= 150 AS few;
COMMIT;
BEGIN;
SELECT count(*) > 0 AS shown FROM jobstats_now();
SELECT locks() <= 150 AS few;
COMMIT;
-- A cached plan shows new rows.
PREPARE state AS SELECT count(*) FROM jobstats.health WHERE states <> '{maintenance}';
EXECUTE state;
INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', now(), ost('fs-OST0001', record('a.1', 1, 4096)));
EXECUTE state;
-- Of a target that is gone for long, the server is known and when it was read.
INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss3', now() - interval '30 days', ost('fs-OST0003', record('a.1', 1, 4096)));
UPDATE jobstats.targets SET received = last_observation + interval '1 second' WHERE name = 'fs-OST0003';
SELECT states, server, last_observation < now() - interval '29 days' AS long_ago, delay, usual_interval, remedy
FROM jobstats.health WHERE target = 'fs-OST0003';

-- A bulk load is read by the index on time after the next maintenance, with or without VACUUM.
INSERT INTO jobstats.increments ("time", since, observed, target_id, entry_id, reset, read)
SELECT i."time", i."time" - interval '1 second', i."time", -1, n, false, n
FROM generate_series(1, 50000) AS n CROSS JOIN LATERAL (SELECT date_trunc('day', now()) - interval '30 days' + n / 10 * interval '1 second' AS "time") i;
CALL jobstats_maintain();
CREATE FUNCTION plan(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY EXECUTE 'EXPLAIN (COSTS off) ' || statement; END $$;
SELECT count(*) FILTER (WHERE line ~ 'Bitmap Index Scan') > 0 AS by_index
FROM (SELECT date_trunc('day', now()) - interval '30 days' AS day) d, plan(format('SELECT sum(read) FROM jobstats.increments WHERE "time" > %L AND "time" <= %L', day, day + interval '1 minute')) AS line;
