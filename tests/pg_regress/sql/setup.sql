-- jobstats_setup() makes the store; functions that need it fail with a hint while it is missing.
\i said.sql
\set ECHO all
CREATE EXTENSION jobstats;
SELECT jobstats_reidentify();
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM jobstats_ingest('', 'oss1', now(), 'text');
\echo :LAST_ERROR_SQLSTATE
CALL jobstats_maintain();
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_grant_reader('postgres');
\echo :LAST_ERROR_SQLSTATE

SELECT regexp_replace(split_part(jobstats_setup(), ':', 1), '\d+\.\d+\.\d+', 'N') AS message;
SELECT relname FROM pg_class
WHERE relnamespace = 'jobstats'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
ORDER BY 1;
-- The message has the next step in any case.
SELECT jobstats_setup() ~ '(CALL |add_job\(''|cron.schedule\(.*)public\.jobstats_maintain' AS says_how;
SELECT raw_retention, retention, rejects_retention, max_ahead, max_text FROM jobstats.settings;
TABLE jobstats.entry_formats;

-- Run again it changes only the given settings, and keeps rows, grants and dependent objects.
INSERT INTO jobstats.users VALUES (1000, 'anna');
CREATE VIEW mine AS SELECT workload, write_bytes FROM jobstats.rates;
CREATE ROLE regress_setup_guest;
GRANT SELECT ON jobstats.rates TO regress_setup_guest;
SELECT jobstats_setup(raw_retention => '5 days') IS NOT NULL AS ready;
SELECT raw_retention, retention, rejects_retention FROM jobstats.settings;
TABLE jobstats.users;
SELECT count(*) FROM mine;
SELECT has_table_privilege('regress_setup_guest', 'jobstats.rates', 'SELECT');
DROP VIEW mine;
DROP OWNED BY regress_setup_guest;
DROP ROLE regress_setup_guest;

-- A store of another version rejects feeds and questions until it has been upgraded.
CREATE VIEW refused AS
SELECT said($$INSERT INTO jobstats.feed (server, body) VALUES ('oss1', 'text')$$) AS feed, said('SELECT * FROM jobstats_top()') AS question;
\x
UPDATE jobstats.settings SET version = '0.0.9';
TABLE refused;
SELECT said('SELECT jobstats_setup()') AS setup;
TABLE refused;
UPDATE jobstats.settings SET version = '99.0.0';
TABLE refused;
SELECT said('SELECT jobstats_setup()') AS setup;
UPDATE jobstats.settings SET version = (SELECT extversion FROM pg_extension WHERE extname = 'jobstats');
\x

-- A database in another encoding.
CREATE DATABASE regress_latin1 ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0;
\set here :DBNAME
\c regress_latin1
CREATE EXTENSION jobstats;
SELECT jobstats_setup();
\echo :LAST_ERROR_SQLSTATE
\c :here
DROP DATABASE regress_latin1;

-- Somebody else's schema is not touched.
SET client_min_messages = warning;
DROP SCHEMA jobstats CASCADE;
RESET client_min_messages;
CREATE SCHEMA jobstats;
SELECT jobstats_setup();
\echo :LAST_ERROR_SQLSTATE
