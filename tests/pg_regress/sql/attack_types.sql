-- The owner of a store changes the type of a column: functions refuse to read it, and reveal no memory of the server.
\i store.sql
\i said.sql
\set ECHO all
SET client_min_messages = warning;
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('oss1', at(0), ost('fs-OST0000', record('1:1000:n1', 1, 4096))), ('oss1', at(30), ost('fs-OST0000', record('1:1000:n1', 2, 8192)));
CALL jobstats_maintain();
SELECT total FROM jobstats_job_usage('1', '', '1 hour', at(0), at(60)) WHERE operation = 'write_bytes';
DROP VIEW jobstats.rollup_all, jobstats.rates_10m, jobstats.rates_1h, jobstats.rates_1d, jobstats.increments_10m, jobstats.increments_1h, jobstats.increments_1d CASCADE;
-- A continuous aggregate has the types of its source.
CREATE VIEW tried AS SELECT said(format('ALTER TABLE jobstats.rollup_1h ALTER write_bytes TYPE %s', to_type)) AS altered,
    said('SELECT * FROM jobstats_job_usage(''1'', step => ''1 hour'', since => texts.at(0), until => texts.at(60))') AS job
FROM (VALUES ('numeric'), ('double precision')) v (to_type);
SELECT count(*) = 2 OR (SELECT c.relkind = 'v' FROM pg_class c WHERE c.oid = 'jobstats.rollup_1h'::regclass) AS tried
FROM tried WHERE altered = 'done';
SELECT job FROM tried WHERE altered = 'done' AND job NOT LIKE 'XX001 %';
