-- Rows that the store needs are deleted: questions, feeds and maintenance fail with a hint, and jobstats_setup() restores them.
\i texts.sql
\i said.sql
\set ECHO all
SET client_min_messages = warning;
CREATE EXTENSION jobstats;
SELECT jobstats_setup(retention => '100 days') IS NOT NULL AS ready;
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('oss1', now() - interval '2 minutes', ost('fs-OST0000', record('1:1000:n1', 1, 4096))),
    ('oss1', now() - interval '1 minute', ost('fs-OST0000', record('1:1000:n1', 2, 8192)));
CREATE VIEW told AS
SELECT said('SELECT * FROM jobstats_top()') AS question, said('SELECT * FROM jobstats_job_usage(''1'')') AS job,
    said($$INSERT INTO jobstats.feed (server, body) VALUES ('oss1', 'text')$$) AS feed,
    said('SELECT jobstats_internal.as_owner(''maintain'', ''{}'')') AS maintenance, said('SELECT jobstats_metrics()') AS metrics;
\x
TABLE told;
DELETE FROM jobstats.settings;
TABLE told;
SELECT jobstats_setup() IS NOT NULL AS ready;
TABLE told;
DELETE FROM jobstats.refresh;
TABLE told;
SELECT jobstats_setup() IS NOT NULL AS ready;
DELETE FROM jobstats.rollups WHERE level = '1h';
TABLE told;
SELECT jobstats_setup() IS NOT NULL AS ready;
DELETE FROM jobstats.sweep;
TABLE told;
SELECT jobstats_setup() IS NOT NULL AS ready;
DELETE FROM jobstats.locks;
TABLE told;
SELECT jobstats_setup() IS NOT NULL AS ready;
TABLE told;
\x
-- A store that kept more than the defaults do does not lose it where its settings are lost.
SELECT jobstats_setup(raw_retention => '200 days', retention => '300 days', rollup_10m_retention => '400 days') IS NOT NULL AS ready;
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('oss1', now() - interval '150 days', ost('fs-OST0001', record('1:1000:n1', 1, 4096))),
    ('oss1', now() - interval '150 days' + interval '1 minute', ost('fs-OST0001', record('1:1000:n1', 2, 8192)));
CALL jobstats_maintain();
DELETE FROM jobstats.settings;
DELETE FROM jobstats.rollups WHERE level = '10m';
SET client_min_messages = warning;
SELECT jobstats_setup() IS NOT NULL AS ready;
SELECT extract(day FROM raw_retention) AS raw, extract(day FROM retention) AS increments, rejects_retention FROM jobstats.settings;
SELECT level, extract(day FROM retention) AS days FROM jobstats.rollups WHERE level = '10m';
CALL jobstats_maintain();
SELECT count(*) FROM jobstats.raw WHERE "time" < now() - interval '100 days';
SELECT jobstats_setup(raw_retention => '2 days', retention => '90 days', rollup_10m_retention => '90 days') IS NOT NULL AS ready;

-- Settings have their defaults; stored rows remain.
SELECT retention FROM jobstats.settings;
SELECT level, retention FROM jobstats.rollups ORDER BY width;
SELECT operation, total FROM jobstats_totals(operations => 'write_bytes', by => '');
CALL jobstats_maintain();

-- A schema of this name that is not ours, though it has a table of settings.
DROP SCHEMA jobstats CASCADE;
CREATE SCHEMA jobstats CREATE TABLE settings (name text, value text);
SELECT said('SELECT * FROM jobstats_top()') AS question, said('SELECT jobstats_setup()') AS setup, said('CALL jobstats_maintain()') AS maintenance;
