-- Roles: the store belongs to a role without special rights, writers may only feed, readers may only read.
\i texts.sql
\set ECHO all
SET client_min_messages = warning;
CREATE ROLE "Regress admin";
CREATE ROLE regress_shipper;
CREATE ROLE regress_site;
CREATE ROLE regress_oss IN ROLE regress_site;
CREATE ROLE regress_reader;
CREATE ROLE regress_nobody;
GRANT USAGE ON SCHEMA texts TO PUBLIC;
\set empty 'obdfilter.fs-OST0000.job_stats=job_stats:\n'

-- A superuser creates the extension, whoever owns the database makes the store.
CREATE EXTENSION jobstats;
SELECT current_database() AS database \gset
ALTER DATABASE :"database" OWNER TO "Regress admin";
SET SESSION AUTHORIZATION regress_nobody;
SELECT jobstats_setup();
\echo :LAST_ERROR_SQLSTATE
SET SESSION AUTHORIZATION "Regress admin";
SELECT jobstats_setup() IS NOT NULL AS ready;
SELECT jobstats_grant_writer('regress_shipper');
SELECT jobstats_grant_writer('regress_site', 'c1');
SELECT jobstats_grant_reader('regress_reader');
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c1', 'oss1', E:'empty');

-- A writer may INSERT and COPY into the feed.
SET SESSION AUTHORIZATION regress_shipper;
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c1', 'oss1', E:'empty');
COPY jobstats.feed (cluster, server, body) FROM stdin;
c2	oss1	obdfilter.fs-OST0000.job_stats=job_stats:\n
\.
-- Other tables are not granted.
SELECT * FROM jobstats.feed;
SELECT * FROM jobstats.raw;
INSERT INTO jobstats.raw SELECT now(), 1, '', '';
DELETE FROM jobstats.increments;
SELECT * FROM jobstats.writers;
CREATE TABLE jobstats.mine ();
SELECT jobstats.feed_insert();
SELECT * FROM jobstats_ingest('', 'oss1', NULL, E:'empty');
SELECT jobstats_setup();
SELECT jobstats_reidentify();
CALL jobstats_maintain();
SELECT jobstats_grant_writer('regress_shipper', 'c3');
SELECT jobstats_grant_reader('regress_shipper');
SELECT jobstats_internal.add_partitions('raw', 'day', now(), now());
SELECT jobstats_internal.drop_before('raw', now());
SELECT jobstats_internal.put_views('{feed}', '{DROP VIEW jobstats.feed}');
SELECT jobstats_reprocess('2025-11-03', '2025-11-04');
SELECT jobstats_audit();
-- It shows a session its own computation.
SELECT * FROM jobstats_internal.staged_increments() AS staged (a integer);

-- A role that is bound to a cluster feeds that one alone.
SET SESSION AUTHORIZATION regress_site;
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c1', 'oss1', E:'empty');
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c2', 'oss1', E:'empty');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO jobstats.feed (server, body) VALUES ('oss1', E:'empty');
INSERT INTO jobstats.feed (cluster, server, body) VALUES (NULL, 'oss1', E:'empty');
-- So does who is its member, and who has taken its part.
SET SESSION AUTHORIZATION regress_oss;
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c1', 'oss1', E:'empty');
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c2', 'oss1', E:'empty');
RESET SESSION AUTHORIZATION;
SET ROLE regress_site;
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c2', 'oss1', E:'empty');
RESET ROLE;
-- A function that runs with the rights of another writer feeds as that one, whoever calls it.
SET SESSION AUTHORIZATION regress_shipper;
CREATE FUNCTION pg_temp.feed(cluster text, body text) RETURNS void LANGUAGE sql SECURITY DEFINER AS $$
INSERT INTO jobstats.feed (cluster, server, body) VALUES (cluster, 'oss1', body)
$$;
SELECT quote_ident(nspname) AS temporary FROM pg_namespace WHERE oid = pg_my_temp_schema() \gset
RESET SESSION AUTHORIZATION;
GRANT USAGE ON SCHEMA :temporary TO PUBLIC;
SET SESSION AUTHORIZATION regress_site;
SELECT :temporary.feed('c1', E:'empty');
SELECT :temporary.feed('c2', E:'empty');
RESET SESSION AUTHORIZATION;

-- More clusters, another name for the role; the owner is not bound.
SET SESSION AUTHORIZATION "Regress admin";
SELECT jobstats_grant_writer('regress_site', 'c2');
SELECT jobstats_grant_writer('regress_site', 'c2');
TABLE jobstats.writers ORDER BY cluster;
RESET SESSION AUTHORIZATION;
ALTER ROLE regress_site RENAME TO regress_place;
GRANT regress_place TO "Regress admin";
SET SESSION AUTHORIZATION regress_place;
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c2', 'oss1', E:'empty');
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c3', 'oss1', E:'empty');
SET SESSION AUTHORIZATION "Regress admin";
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c3', 'oss1', E:'empty');
RESET SESSION AUTHORIZATION;
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c4', 'oss1', E:'empty');
SELECT t.cluster, count(*) FROM jobstats.observations JOIN jobstats.targets t USING (target_id) GROUP BY 1 ORDER BY 1;

-- A dropped role has no bound left.
CREATE ROLE regress_gone;
SELECT jobstats_grant_writer('regress_gone', 'c9');
DROP OWNED BY regress_gone;
DROP ROLE regress_gone;
SET SESSION AUTHORIZATION regress_shipper;
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c4', 'oss1', E:'empty');
RESET SESSION AUTHORIZATION;

-- What a writer puts into its search path or among its temporary objects is not called with the owner's rights.
CREATE SCHEMA trap AUTHORIZATION regress_shipper;
SET SESSION AUTHORIZATION regress_shipper;
CREATE FUNCTION trap.spring() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    RAISE 'trapped %', current_user;
END
$$;
CREATE FUNCTION trap.to_regprocedure(text) RETURNS regprocedure LANGUAGE sql AS 'SELECT trap.spring(); SELECT NULL::regprocedure';
CREATE FUNCTION trap.current_setting(text) RETURNS text LANGUAGE sql AS 'SELECT trap.spring(); SELECT NULL::text';
CREATE FUNCTION trap.pg_has_role(name, oid, text) RETURNS boolean LANGUAGE sql AS 'SELECT trap.spring(); SELECT true';
CREATE FUNCTION trap.unnest(text[]) RETURNS SETOF text LANGUAGE sql AS 'SELECT trap.spring(); SELECT NULL::text';
CREATE FUNCTION trap.pg_advisory_xact_lock(integer, integer) RETURNS void LANGUAGE sql AS 'SELECT trap.spring()';
CREATE FUNCTION trap.equal(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT trap.spring(); SELECT true';
CREATE OPERATOR trap.= (LEFTARG = text, RIGHTARG = text, FUNCTION = trap.equal);
CREATE FUNCTION pg_temp.jobstats_ingest(text, text, timestamptz, text, bytea, interval, text) RETURNS void LANGUAGE sql AS 'SELECT trap.spring()';
CREATE TEMPORARY TABLE writers (role regrole, cluster text);
CREATE TEMPORARY TABLE settings AS SELECT 1 AS one;
CREATE TEMPORARY TABLE pg_roles AS SELECT 'regress_shipper'::name AS rolname, true AS rolsuper;
SET search_path = pg_temp, trap, pg_catalog;
SELECT 'a'::text = 'b'::text;
SELECT to_regprocedure('trap.spring()');
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c5', 'oss1', E:'empty');
RESET search_path;
RESET SESSION AUTHORIZATION;
SELECT count(*) FROM jobstats.targets WHERE cluster = 'c5';

-- A reader sees all tables and cannot change them, also after a later setup.
SET SESSION AUTHORIZATION "Regress admin";
DROP VIEW jobstats.rates;
SELECT jobstats_setup() IS NOT NULL AS ready;
SET SESSION AUTHORIZATION regress_reader;
SELECT count(*) FROM jobstats.rates;
SELECT body FROM jobstats.raw_text ORDER BY "time" LIMIT 1;
SELECT status FROM jobstats_identify('dd.0');
INSERT INTO jobstats.feed (server, body) VALUES ('oss1', E:'empty');
UPDATE jobstats.settings SET max_text = 1;
SELECT jobstats_reidentify();

-- Who may neither read nor feed has no functions on text; a writer needs no store to identify by formats that it gives.
SET SESSION AUTHORIZATION regress_nobody;
SELECT status FROM jobstats_identify('dd.0', '{%e.%u}');
\echo :LAST_ERROR_SQLSTATE
SET SESSION AUTHORIZATION regress_shipper;
SELECT status FROM jobstats_identify('dd.0');
\echo :LAST_ERROR_SQLSTATE
SELECT status FROM jobstats_identify('dd.0', '{%e.%u}');
SELECT count(*) FROM jobstats_parse('');

-- Invalid roles.
SET SESSION AUTHORIZATION "Regress admin";
SELECT jobstats_grant_writer('regress_unknown');
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_grant_reader('regress_unknown');
\echo :LAST_ERROR_SQLSTATE
-- A superuser does not take over a store of somebody else.
RESET SESSION AUTHORIZATION;
SELECT jobstats_setup();
\echo :LAST_ERROR_SQLSTATE

ALTER DATABASE :"database" OWNER TO CURRENT_USER;
DROP SCHEMA jobstats CASCADE;
DROP OWNED BY "Regress admin", regress_shipper, regress_place, regress_oss, regress_reader, regress_nobody CASCADE;
DROP ROLE "Regress admin", regress_shipper, regress_place, regress_oss, regress_reader, regress_nobody;
