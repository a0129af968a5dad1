-- jobstats_setup() makes the store; functions that need it say so while it is missing.
CREATE EXTENSION jobstats;
SELECT jobstats_reidentify();
SELECT * FROM jobstats_ingest('', 'oss1', now(), 'text');
CALL jobstats_maintain();
SELECT jobstats_grant_reader('postgres');

SELECT split_part(jobstats_setup(), ':', 1);
SELECT c.relname, CASE WHEN c.relkind = 'v' THEN 'view' ELSE 'table' END AS kind
FROM pg_class c WHERE c.relnamespace = 'jobstats'::regnamespace AND c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition
ORDER BY 1;
SELECT raw_retention, retention, rejects_retention, max_ahead, max_text FROM jobstats.settings;
TABLE jobstats.entry_formats;

-- Every column of the store is described.
SELECT a.attrelid::regclass, a.attname FROM pg_attribute a
WHERE a.attrelid IN ('jobstats.increments'::regclass) AND a.attnum > 0
    AND a.attname NOT IN ('target_id', 'entry_id') AND col_description(a.attrelid, a.attnum) IS NULL;

-- Run again it changes nothing but what it is told to, and keeps what is stored.
INSERT INTO jobstats.users VALUES (1000, 'anna');
SELECT split_part(jobstats_setup(raw_retention => '5 days'), ':', 1);
SELECT raw_retention, retention, rejects_retention FROM jobstats.settings;
TABLE jobstats.users;

-- A store of an older version gets the operations that it lacks.
ALTER TABLE jobstats.increments DROP COLUMN readpage CASCADE;
SELECT split_part(jobstats_setup(), ':', 1);
SELECT count(readpage) FROM jobstats.increments;
SELECT count(readpage) FROM jobstats.rates;

-- Somebody else's schema is not touched.
DROP SCHEMA jobstats CASCADE;
CREATE SCHEMA jobstats;
SELECT jobstats_setup();
