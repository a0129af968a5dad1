-- The store is not part of the extension: it survives DROP EXTENSION, and the extension finds it again.
\i store.sql
\set ECHO all
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('oss1', at(0), ost('fs-OST0000', record('a.1', 10, 40960))),
    ('oss1', at(2), ost('fs-OST0000', record('a.1', 14, 57344, 1)));
CALL jobstats_maintain();
SELECT md5(string_agg(r::text, ' ' ORDER BY r::text)) AS held FROM jobstats.rollup_1h r \gset
CREATE VIEW rows AS
SELECT (SELECT count(*) FROM jobstats.raw) AS raw, (SELECT count(*) FROM jobstats.observations) AS observations,
    (SELECT count(*) FROM jobstats.increments) AS increments, (SELECT count(*) FROM jobstats.entries) AS entries,
    (SELECT count(*) FROM jobstats.targets) AS targets, (SELECT count(*) FROM jobstats.rollup_10m) AS rollup,
    (SELECT count(*) FROM jobstats.increments_10m) AS shown,
    (SELECT md5(string_agg(r::text, ' ' ORDER BY r::text)) FROM jobstats.rollup_1h r) = :'held' AS same;
TABLE rows;

-- Grants, and dependent objects: a view of the store that only shows tables, a view that needs the extension, and a function call.
CREATE ROLE regress_drop_reader;
CREATE ROLE regress_drop_writer;
CREATE ROLE regress_drop_guest;
SELECT jobstats_grant_reader('regress_drop_reader'), jobstats_grant_writer('regress_drop_writer', 'puhti');
GRANT USAGE ON SCHEMA jobstats TO regress_drop_guest;
GRANT SELECT ON jobstats.rates, jobstats.health TO regress_drop_guest;
GRANT EXECUTE ON FUNCTION jobstats_reidentify() TO regress_drop_guest;
CREATE VIEW on_rates AS SELECT workload, write FROM jobstats.rates;
CREATE VIEW on_health AS SELECT target, states FROM jobstats.health;
CREATE VIEW on_function AS SELECT * FROM jobstats_top();

-- Only views that show something with the extension's functions go with it: no table, no column, not the way in.
\set VERBOSITY terse
DROP EXTENSION jobstats;
\set VERBOSITY default
SET client_min_messages = warning;
DROP EXTENSION jobstats CASCADE;
RESET client_min_messages;
TABLE rows;
SELECT to_regclass('jobstats.raw_text') IS NULL AS gone, to_regclass('jobstats.feed') IS NOT NULL AS there;
SELECT to_regclass('on_rates'), to_regclass('on_health'), to_regclass('on_function');
SELECT count(*) AS functions FROM pg_proc WHERE proname LIKE 'jobstats\_%';

-- Feeds get a hint.
INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', at(4), ost('fs-OST0000', record('a.1', 15, 61440, 1)));
\echo :LAST_ERROR_SQLSTATE

-- It may come back in another schema.
CREATE SCHEMA "Monitoring tools";
CREATE EXTENSION jobstats SCHEMA "Monitoring tools";
SELECT "Monitoring tools".jobstats_setup() ~ '"Monitoring tools".jobstats_maintain' AS ready;
INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', at(4), ost('fs-OST0000', record('a.1', 15, 61440, 1)));
SELECT entry, since, until, write, write_bytes, punch FROM increments;
SELECT body = ost('fs-OST0000', record('a.1', 10, 40960)) AS same FROM jobstats.raw_text ORDER BY "time" LIMIT 1;
CALL "Monitoring tools".jobstats_maintain();
TABLE rows;

-- Readers read the views that were made anew, writers feed where they could. Other rights on such views, and those on functions,
-- are to be granted again.
SELECT has_table_privilege('regress_drop_reader', view, 'SELECT') AS reader, has_table_privilege('regress_drop_guest', view, 'SELECT') AS guest, view
FROM unnest('{jobstats.rates,jobstats.raw_text,jobstats.health,jobstats.quality}'::text[]) AS view;
SELECT has_function_privilege('regress_drop_guest', '"Monitoring tools".jobstats_reidentify()', 'EXECUTE');
SET ROLE regress_drop_writer;
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES ('puhti', 'oss1', now(), 'nothing');
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES ('mahti', 'oss1', now(), 'nothing');
RESET ROLE;
SET client_min_messages = warning;
DROP OWNED BY regress_drop_reader, regress_drop_writer, regress_drop_guest;
DELETE FROM jobstats.writers;
DROP ROLE regress_drop_reader, regress_drop_writer, regress_drop_guest;
RESET client_min_messages;

-- A schema may be renamed, even so that its name must be quoted twice.
ALTER SCHEMA "Monitoring tools" RENAME TO "admin's";
SELECT "admin's".jobstats_setup() IS NOT NULL AS ready \gset
INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', at(6), ost('fs-OST0000', record('a.1', 16, 65536, 1)));
SELECT observed, write FROM increments WHERE observed = 6;
SELECT count(*) FROM jobstats.raw_text;
