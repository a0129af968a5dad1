-- The store is not part of the extension: it survives DROP EXTENSION, and the extension finds it again.
\getenv source PG_ABS_SRCDIR
\set store :source '/include/store.sql'
\set ECHO none
\i :store
\set ECHO all
\set SHOW_CONTEXT never
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('oss1', at(0), ost('fs-OST0000', record('a.1', 10, 40960))),
    ('oss1', at(2), ost('fs-OST0000', record('a.1', 14, 57344, 1)));
CREATE VIEW rows AS
SELECT (SELECT count(*) FROM jobstats.raw) AS raw, (SELECT count(*) FROM jobstats.observations) AS observations,
    (SELECT count(*) FROM jobstats.increments) AS increments, (SELECT count(*) FROM jobstats.entries) AS entries,
    (SELECT count(*) FROM jobstats.targets) AS targets;
TABLE rows;

-- Only views that show something with the extension's functions go with it: no table, no column, not the way in.
\set VERBOSITY terse
DROP EXTENSION jobstats;
\set VERBOSITY default
SET client_min_messages = warning;
DROP EXTENSION jobstats CASCADE;
RESET client_min_messages;
TABLE rows;
SELECT to_regclass('jobstats.raw_text') IS NULL AS gone, to_regclass('jobstats.feed') IS NOT NULL AS there;
SELECT count(*) AS functions FROM pg_proc WHERE proname LIKE 'jobstats\_%';

-- What feeds is told what to do.
INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', at(4), ost('fs-OST0000', record('a.1', 15, 61440, 1)));
\echo :LAST_ERROR_SQLSTATE

-- It may come back in another schema; until setup has run again, the feed still looks where it was.
CREATE SCHEMA "Monitoring tools";
CREATE EXTENSION jobstats SCHEMA "Monitoring tools";
INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', at(4), ost('fs-OST0000', record('a.1', 15, 61440, 1)));
\echo :LAST_ERROR_SQLSTATE
SELECT "Monitoring tools".jobstats_setup() ~ '"Monitoring tools".jobstats_maintain' AS ready;
INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', at(4), ost('fs-OST0000', record('a.1', 15, 61440, 1)));
SELECT entry, since, until, write, write_bytes, punch FROM increments;
SELECT body = ost('fs-OST0000', record('a.1', 10, 40960)) AS same FROM jobstats.raw_text ORDER BY "time" LIMIT 1;
CALL "Monitoring tools".jobstats_maintain();
TABLE rows;

-- A schema may be renamed, even so that its name must be quoted twice.
ALTER SCHEMA "Monitoring tools" RENAME TO "admin's";
SELECT "admin's".jobstats_setup() IS NOT NULL AS ready;
INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', at(6), ost('fs-OST0000', record('a.1', 16, 65536, 1)));
SELECT observed, write FROM increments WHERE observed = 6;
SELECT count(*) FROM jobstats.raw_text;
