-- The extension installs code only, into the schema that the user chose, and DROP removes all of it.
\set ECHO all
CREATE SCHEMA monitoring;
CREATE EXTENSION jobstats SCHEMA monitoring;
SELECT extname, nspname AS schema, extversion = default_version AS current
FROM pg_extension
JOIN pg_namespace ON pg_namespace.oid = extnamespace
JOIN pg_available_extensions ON name = extname
WHERE extname = 'jobstats';
-- Each version has a separate library, so that functions of one version do not call another's: PostgreSQL reports a missing file.
SELECT DISTINCT p.probin LIKE '%jobstats-' || e.extversion AS own_library
FROM pg_extension e
JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e' AND d.classid = 'pg_proc'::regclass
JOIN pg_proc p ON p.oid = d.objid
WHERE e.extname = 'jobstats' AND p.probin IS NOT NULL;
DROP EXTENSION jobstats;
SELECT count(*) AS left_behind
FROM pg_proc
WHERE proname LIKE 'jobstats%';
CREATE EXTENSION jobstats;
CREATE EXTENSION jobstats;
-- Public functions, and the members of types and reading functions, are the only ones that PUBLIC may execute.
CREATE VIEW routines AS
SELECT p.proname, p.pronamespace = 'public'::regnamespace AS public, p.proacl
FROM pg_depend d
JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'jobstats'
JOIN pg_proc p ON p.oid = d.objid
WHERE d.classid = 'pg_proc'::regclass AND d.deptype = 'e';
SELECT count(*) FROM routines WHERE proacl IS NULL;
SELECT DISTINCT r.proname FROM routines r, aclexplode(r.proacl) a WHERE r.public AND a.grantee = 0 ORDER BY r.proname;
SELECT count(DISTINCT r.proname) AS internal FROM routines r, aclexplode(r.proacl) a WHERE NOT r.public AND a.grantee = 0;
