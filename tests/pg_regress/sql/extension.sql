-- The extension installs code only, into the schema that the user chose, and leaves nothing behind.
CREATE SCHEMA monitoring;
CREATE EXTENSION jobstats SCHEMA monitoring;
SELECT extname, nspname AS schema, extversion = default_version AS current
FROM pg_extension
JOIN pg_namespace ON pg_namespace.oid = extnamespace
JOIN pg_available_extensions ON name = extname
WHERE extname = 'jobstats';
DROP EXTENSION jobstats;
SELECT count(*) AS left_behind
FROM pg_proc
WHERE proname LIKE 'jobstats%';
CREATE EXTENSION jobstats;
CREATE EXTENSION jobstats;
