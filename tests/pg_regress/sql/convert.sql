-- jobstats_convert() where it cannot work. scripts/convert.sh tests the conversion.
\set ECHO all
CREATE EXTENSION jobstats;
CALL jobstats_convert();
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_setup() IS NOT NULL AS ready;
BEGIN;
CALL jobstats_convert();
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
CREATE FUNCTION atomic() RETURNS void LANGUAGE plpgsql AS $$ BEGIN CALL jobstats_convert(); END $$;
SELECT atomic();
\echo :LAST_ERROR_SQLSTATE
CREATE ROLE regress_convert_guest;
SET ROLE regress_convert_guest;
CALL jobstats_convert();
\echo :LAST_ERROR_SQLSTATE
RESET ROLE;
DROP ROLE regress_convert_guest;

-- There is no TimescaleDB to convert to.
CREATE DATABASE regress_convert TEMPLATE template0;
\set here :DBNAME
\c regress_convert
CREATE EXTENSION jobstats;
SELECT jobstats_setup() IS NOT NULL AS ready;
CALL jobstats_convert();
\echo :LAST_ERROR_SQLSTATE
SELECT count(*) AS begun FROM pg_class WHERE relnamespace = 'jobstats'::regnamespace AND relname LIKE 'new%';
\c :here
DROP DATABASE regress_convert;
