-- jobstats_maintain(): retention, and room for the coming days. To be called every ten minutes or so.
\i store.sql
\set ECHO all

-- Each cluster has two texts and one increment, of some age.
CREATE FUNCTION feed(cluster text, "time" timestamptz) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES
    (cluster, 'oss1', "time", ost('fs-OST0000', record('a.1', 1, 4096), 'what is this')),
    (cluster, 'oss1', "time" + interval '1 second', ost('fs-OST0000', record('a.1', 2, 8192)))
$$;
CREATE VIEW stored AS
SELECT t.cluster, (SELECT count(*) FROM jobstats.raw r WHERE r.target_id = t.target_id) AS raw,
    (SELECT count(*) FROM jobstats.observations o WHERE o.target_id = t.target_id) AS observations,
    (SELECT count(*) FROM jobstats.increments i WHERE i.target_id = t.target_id) AS increments,
    (SELECT count(*) FROM jobstats.rejects r WHERE r.cluster = t.cluster) AS rejects
FROM jobstats.targets t ORDER BY t.target_id;
-- Rows that are in no partition of their day; a day as a suffix; where TimescaleDB keeps the tables there is neither.
CREATE FUNCTION in_default(relation text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    found bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM jobstats.%I WHERE tableoid::regclass::text ~ ''default''', relation) INTO found;
    RETURN found;
END
$$;
CREATE FUNCTION partition(relation text, ahead integer) RETURNS text LANGUAGE sql AS $$
SELECT format('jobstats.%s_%s', relation, to_char(now() AT TIME ZONE 'UTC' + ahead * interval '1 day', 'YYYYMMDD'))
$$;
CREATE FUNCTION is_partitioned() RETURNS boolean LANGUAGE sql AS $$
SELECT relkind = 'p' FROM pg_class WHERE oid = 'jobstats.raw'::regclass
$$;

-- Text of any age is taken as long as raw text is kept.
SELECT jobstats_setup(raw_retention => '300 days', retention => '300 days') IS NOT NULL AS ready;
SELECT feed('100 days', now() - interval '100 days'), feed('5 days', now() - interval '5 days'), feed('now', now() - interval '2 seconds');
UPDATE jobstats.rejects SET received = received - interval '15 days' WHERE cluster = '5 days';
SELECT jobstats_setup(raw_retention => '2 days', retention => '90 days') IS NOT NULL AS ready;
TABLE stored;
CALL jobstats_maintain();
TABLE stored;
-- Days without rows are not gone through one by one.
SELECT relation, days_ago, to_regclass(partition(relation, -days_ago)) IS NOT NULL OR NOT is_partitioned() AND days_ago = 80 AS made
FROM unnest(ARRAY['rollup_10m', 'rollup_10m_users']) AS relation, unnest(ARRAY[40, 80]) AS days_ago
ORDER BY relation, days_ago;
CALL jobstats_maintain();
TABLE stored;

-- Shorter retentions hold from the next call on.
SELECT jobstats_setup(raw_retention => '1 day', retention => '3 days', rejects_retention => '1 microsecond') IS NOT NULL AS ready;
CALL jobstats_maintain();
TABLE stored;

-- Partitions exist for today and the next three days, with no default rows yet.
SELECT in_default('raw'), in_default('observations'), in_default('increments');
SELECT relation, bool_and(to_regclass(partition(relation, ahead)) IS NOT NULL OR NOT is_partitioned()) AS room
FROM unnest(ARRAY['raw', 'observations', 'increments']) AS relation, generate_series(0, 3) AS ahead
GROUP BY relation ORDER BY relation;
-- A missing day is created; a day with rows takes them from the default partition.
DO $$
BEGIN
    IF is_partitioned() THEN
        EXECUTE format('DROP TABLE %s', partition('raw', 3));
        EXECUTE format('DROP TABLE %s', partition('raw', 0));
    END IF;
END
$$;
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES ('now', 'oss1', now(), ost('fs-OST0000', record('a.1', 3, 12288)));
CALL jobstats_maintain();
SELECT to_regclass(partition('raw', 3)) IS NOT NULL OR NOT is_partitioned() AS made;
SELECT in_default('raw') > 0 AS stays, count(*) > 0 AS shown FROM jobstats.raw WHERE "time" = (SELECT max("time") FROM jobstats.observations);

-- Indexes by time cover the new pages: none of the rows, which fill over 32 pages, is left to summarize.
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT 'large', 'oss1', now() - interval '10 seconds' * (3 - round),
    ost('fs-OST0000', VARIADIC ARRAY(SELECT record('a.' || n, round, 4096 * round) FROM generate_series(1, 4000) AS n))
FROM generate_series(1, 2) AS round;
SELECT pg_stat_force_next_flush();
CALL jobstats_maintain();
SELECT affected > 0 AS summarized, problem FROM jobstats.maintenance WHERE step = 'indexes by time' ORDER BY began DESC LIMIT 1;
SELECT sum(brin_summarize_new_values(x.indexrelid)) AS left
FROM pg_inherits h
JOIN pg_index x ON x.indrelid = h.inhrelid
JOIN pg_class c ON c.oid = x.indexrelid
JOIN pg_am a ON a.oid = c.relam
WHERE h.inhparent = 'jobstats.increments'::regclass AND a.amname = 'brin';

-- A failed step does not prevent the others, and is named at the end.
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not today'; END $$;
CREATE TRIGGER fail BEFORE DELETE ON jobstats.rejects FOR EACH ROW EXECUTE FUNCTION fail();
INSERT INTO jobstats.rejects ("time", received, cluster, reason) VALUES ('2020-01-01', '2020-01-01', '', 'test');
INSERT INTO jobstats.maintenance (step, began, took, affected) VALUES ('long ago', '2020-01-01', '1 second', 0);
CALL jobstats_maintain();
SELECT step, problem FROM jobstats.maintenance WHERE problem IS NOT NULL ORDER BY began;
SELECT count(*) AS "long ago" FROM jobstats.maintenance WHERE step = 'long ago';
DROP TRIGGER fail ON jobstats.rejects;
CALL jobstats_maintain();
SELECT count(*) AS rejects FROM jobstats.rejects WHERE reason = 'test';
SELECT step, problem FROM jobstats.maintenance WHERE step = 'all' ORDER BY began DESC LIMIT 1;

-- A refresh is atomic: when a step of it fails, the rest and its dirty spans are left to the next call.
CREATE TRIGGER fail BEFORE INSERT ON jobstats.rollup_1h FOR EACH ROW EXECUTE FUNCTION fail();
SELECT feed('again', now() - interval '2 hours');
CALL jobstats_maintain();
SELECT count(*) > 0 AS waiting FROM jobstats.dirty;
SELECT step FROM jobstats.maintenance WHERE began > (SELECT max(began) FROM jobstats.maintenance WHERE step = 'refresh of rollup_1h') AND step LIKE 'refresh%';
DROP TRIGGER fail ON jobstats.rollup_1h;
CALL jobstats_maintain();
SELECT count(*) AS waiting FROM jobstats.dirty;
-- A canceled call has left its step running. The next one reports it once.
UPDATE jobstats.settings SET rejects_retention = '14 days';
INSERT INTO jobstats.maintenance (step, began, affected) VALUES ('all', now(), NULL), ('refresh of rollup_10m', now(), 7);
CALL jobstats_maintain();
SELECT step, affected, problem FROM jobstats.maintenance WHERE problem LIKE 'the call%' OR took IS NULL;
SELECT step, problem FROM jobstats.maintenance WHERE step = 'all' ORDER BY began DESC LIMIT 1;
-- Each step calls a documented function.
SELECT count(*) > 40 AS steps, count(*) FILTER (WHERE d.description IS NULL) AS without_comment
FROM jobstats_internal.maintenance_steps() s
LEFT JOIN pg_description d ON d.classoid = 'pg_proc'::regclass AND d.objoid = to_regproc('jobstats_internal.' || split_part(s.call, '(', 1));
-- On a front, they call the nodes.
BEGIN;
UPDATE jobstats.settings SET front = true;
INSERT INTO jobstats.attached (name, node, accounting) VALUES ('near', 1, true);
SELECT number, step, call, tries FROM jobstats_internal.maintenance_steps() ORDER BY number;
ROLLBACK;

-- It commits, so it must be called alone.
BEGIN;
CALL jobstats_maintain();
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
CREATE FUNCTION atomic() RETURNS void LANGUAGE plpgsql AS $$ BEGIN CALL jobstats_maintain(); END $$;
SELECT atomic();
\echo :LAST_ERROR_SQLSTATE
-- A search path of the session has no effect, and stays.
CREATE SCHEMA trap;
CREATE FUNCTION trap.now() RETURNS timestamptz LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
SET search_path = trap, pg_catalog;
CALL public.jobstats_maintain();
SHOW search_path;
RESET search_path;

-- Called by a superuser, as cron may do, it leaves everything to the owner of the store.
SET client_min_messages = warning;
DROP SCHEMA jobstats CASCADE;
CREATE ROLE regress_owner;
SELECT current_database() AS database \gset
ALTER DATABASE :"database" OWNER TO regress_owner;
SET SESSION AUTHORIZATION regress_owner;
SELECT public.jobstats_setup() IS NOT NULL AS ready;
RESET SESSION AUTHORIZATION;
SET search_path = public, texts;
DO $$
BEGIN
    IF is_partitioned() THEN
        EXECUTE format('DROP TABLE %s', partition('raw', 3));
    END IF;
END
$$;
CALL jobstats_maintain();
SELECT to_regclass(partition('raw', 3)) IS NOT NULL OR NOT is_partitioned() AS made;
SELECT DISTINCT pg_get_userbyid(relowner) AS owner FROM pg_class WHERE relnamespace = 'jobstats'::regnamespace;
ALTER DATABASE :"database" OWNER TO CURRENT_USER;
SELECT * FROM wrong_spans();
DROP SCHEMA jobstats CASCADE;
DROP OWNED BY regress_owner;
DROP ROLE regress_owner;
