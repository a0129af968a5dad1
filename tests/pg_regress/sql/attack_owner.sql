-- A superuser maintains and converts a store that belongs to somebody else. What its owner has put on the tables runs with
-- the owner's rights, and does not come by the superuser's.
\i texts.sql
\set ECHO all
SET client_min_messages = error;
CREATE ROLE regress_hostile;
SELECT current_database() AS database \gset
CREATE EXTENSION jobstats;
ALTER DATABASE :"database" OWNER TO regress_hostile;
GRANT USAGE ON SCHEMA texts TO regress_hostile;
SET SESSION AUTHORIZATION regress_hostile;
SELECT jobstats_setup() IS NOT NULL AS ready;
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', now() - interval '100 days' * n - interval '1 hour', ost('fs-OST0000', record('a.1', 10 - n, 4096 * (10 - n)))
FROM generate_series(2, 0, -1) n;
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', now() - interval '1 minute' * n, ost('fs-OST0000', record('a.1', 20 - n, 4096 * (20 - n)))
FROM generate_series(2, 0, -1) n;
INSERT INTO jobstats.rejects ("time", received, cluster, reason) VALUES ('2020-01-01', '2020-01-01', '', 'test');

-- A trigger on every table tries to reset the role of the session, also behind a search path that finds the owner's functions first, and at
-- the end of the transaction.
CREATE SCHEMA hostile;
CREATE TABLE hostile.sprung (relation name, role name);
CREATE FUNCTION hostile.attack() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    BEGIN
        RESET ROLE;
    EXCEPTION WHEN OTHERS THEN NULL;
    END;
    BEGIN
        RESET SESSION AUTHORIZATION;
    EXCEPTION WHEN OTHERS THEN NULL;
    END;
    BEGIN
        ALTER ROLE regress_hostile SUPERUSER;
    EXCEPTION WHEN OTHERS THEN NULL;
    END;
END
$$;
CREATE FUNCTION hostile.set_config(text, text, boolean) RETURNS text LANGUAGE sql AS 'SELECT hostile.attack(); SELECT $2';
CREATE FUNCTION hostile.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT hostile.attack(); SELECT now()';
CREATE FUNCTION hostile.spring() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO hostile.sprung VALUES (TG_TABLE_NAME, current_user);
    PERFORM hostile.attack();
    PERFORM pg_catalog.set_config('search_path', 'hostile, pg_catalog', false);
    RETURN NULL;
END
$$;
DO $$
DECLARE
    relation regclass;
BEGIN
    FOR relation IN
        SELECT c.oid FROM pg_class c
        WHERE c.relnamespace = 'jobstats'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    LOOP
        EXECUTE format('CREATE TRIGGER spring AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH STATEMENT EXECUTE FUNCTION hostile.spring()', relation);
    END LOOP;
END
$$;
RESET SESSION AUTHORIZATION;

CALL jobstats_maintain();
SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'timescaledb') AS timescale \gset
\if :timescale
    CALL jobstats_convert();
\endif
SELECT count(DISTINCT relation) > 5 AS sprung, string_agg(DISTINCT role, ', ') AS role FROM hostile.sprung;
SELECT rolsuper FROM pg_roles WHERE rolname = 'regress_hostile';
SHOW search_path;
-- It has been done all the same.
SELECT count(*) FROM jobstats.rejects WHERE reason = 'test';

-- The owner who has taken a part, and a superuser who has taken the owner's.
GRANT regress_hostile TO CURRENT_USER;
SET ROLE regress_hostile;
CALL jobstats_maintain();
RESET ROLE;
SELECT rolsuper FROM pg_roles WHERE rolname = 'regress_hostile';

-- The other functions that change stored rows.
SET session_replication_role = replica;
UPDATE jobstats.observations SET entries = 7 WHERE "time" > now() - interval '90 seconds';
UPDATE jobstats.entries SET job = 'wrong';
RESET session_replication_role;
TRUNCATE hostile.sprung;
SELECT targets > 0 AS changed FROM (SELECT count(*) FILTER (WHERE changed > 0) AS targets FROM jobstats_reprocess(now() - interval '1 hour', NULL)) r;
SELECT jobstats_reidentify();
SELECT jobstats_alter_target('fs-OST0000', rename_to => 'fs-OST0001');
SELECT jobstats_alter_target('fs-OST0001', retired => true);
SELECT relation, string_agg(DISTINCT role, ', ') AS role FROM hostile.sprung GROUP BY relation ORDER BY relation;
SELECT rolsuper FROM pg_roles WHERE rolname = 'regress_hostile';
SHOW search_path;
SELECT name, retired IS NOT NULL AS retired FROM jobstats.targets;

-- What waits for the end of a transaction would run with the rights of whoever ends it.
SET SESSION AUTHORIZATION regress_hostile;
CREATE CONSTRAINT TRIGGER later AFTER INSERT ON jobstats.maintenance DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION hostile.spring();
RESET SESSION AUTHORIZATION;
CALL jobstats_maintain();
SELECT rolsuper FROM pg_roles WHERE rolname = 'regress_hostile';
DROP TRIGGER later ON jobstats.maintenance;

-- Whoever may call maintenance without the rights of the owner cannot take them.
CREATE ROLE regress_other;
GRANT EXECUTE ON ALL ROUTINES IN SCHEMA public, jobstats_internal TO regress_other;
SET SESSION AUTHORIZATION regress_other;
CALL jobstats_maintain();
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_internal.as_owner('maintain', '{}');
SELECT * FROM jobstats_reprocess(now() - interval '1 hour', NULL);
SELECT jobstats_reidentify();
SELECT jobstats_alter_target('fs-OST0001', rename_to => 'fs-OST0000');
SELECT jobstats_alter_target('fs-OST0001', retired => true);
RESET SESSION AUTHORIZATION;

ALTER DATABASE :"database" OWNER TO CURRENT_USER;
DROP OWNED BY regress_hostile, regress_other CASCADE;
DROP ROLE regress_hostile, regress_other;
