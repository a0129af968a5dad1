-- A hostile or broken sender of accounting can change the covered times of its own cluster and source only.
\i store.sql
\set ECHO all
SET client_min_messages = warning;
CREATE ROLE regress_covers_slurm;
SELECT jobstats_grant_writer('regress_covers_slurm', 'c1', sources => '{slurm}') \gset
\set none 'JobIDRaw\x1fSubmit\x1fStart\x1fEnd\n'
SET ROLE regress_covers_slurm;
INSERT INTO jobstats.feed (cluster, server, body, source, covers) VALUES ('c2', 's1', E:'none', 'slurm', tstzrange(now() - interval '1 hour', now()));
\echo :LAST_ERROR_SQLSTATE
INSERT INTO jobstats.feed (server, body, source, covers) VALUES ('s1', E:'none', 'slurm', tstzrange(now() - interval '1 hour', now()));
\echo :LAST_ERROR_SQLSTATE
INSERT INTO jobstats.feed (cluster, server, body, source, covers) VALUES ('c1', 's1', '', 'pbs', tstzrange(now() - interval '1 hour', now()));
\echo :LAST_ERROR_SQLSTATE
INSERT INTO jobstats.covered VALUES ('c2', 'slurm', now() - interval '1 hour', now());
\echo :LAST_ERROR_SQLSTATE
SELECT count(*) FROM jobstats.covered;
\echo :LAST_ERROR_SQLSTATE
DELETE FROM jobstats.texts;
\echo :LAST_ERROR_SQLSTATE
-- Its own text cannot be replaced by another one.
INSERT INTO jobstats.feed (cluster, server, "time", body, source) VALUES ('c1', 's1', '2025-11-03 12:00', E:'none', 'slurm');
INSERT INTO jobstats.feed (cluster, server, "time", body, source) VALUES ('c1', 's1', '2025-11-03 12:00', E:'none' || E'1|1|2|3\n', 'slurm');
-- Spans from the beginning of time, and outside of it.
INSERT INTO jobstats.feed (cluster, server, body, source, covers) VALUES ('c1', 's1', E:'none', 'slurm', tstzrange('4713-01-02 BC', '4713-01-03 BC'));
INSERT INTO jobstats.feed (cluster, server, body, source, covers) VALUES ('c1', 's1', E:'none', 'slurm', tstzrange('294276-12-01', '294276-12-31'));
\echo :LAST_ERROR_SQLSTATE
-- Hundreds of tiny spans: at most one row a minute remains, and one span takes the place of all.
INSERT INTO jobstats.feed (cluster, server, "time", body, source, covers)
SELECT 'c1', 's1', at + interval '1 second', E:'none', 'slurm', tstzrange(at, at + interval '1 microsecond')
FROM generate_series(timestamptz '2025-11-01', timestamptz '2025-11-01 01:00', interval '10 seconds') at ORDER BY md5(at::text);
RESET ROLE;
SELECT reason, count(*) FROM jobstats.rejects GROUP BY 1;
SELECT count(*) AS rows, max(until - since) AS longest FROM jobstats.covered WHERE until > '2025-01-01';
INSERT INTO jobstats.feed (cluster, server, "time", body, source, covers)
SELECT 'c1', 's1', at + interval '1 second', E:'none', 'slurm', tstzrange(at, at + interval '1 microsecond')
FROM generate_series(timestamptz '2025-10-01', timestamptz '2025-10-01 06:00', interval '61 seconds') at;
SELECT count(*) > 350 AS is_many FROM jobstats.covered;
INSERT INTO jobstats.feed (cluster, server, "time", body, source, covers)
VALUES ('c1', 's1', '2025-11-04', E:'none', 'slurm', tstzrange('2025-09-01', '2025-11-04'));
SELECT cluster, source, since, until FROM jobstats.covered ORDER BY since;
SELECT count(*) AS texts, count(body) AS bodies FROM jobstats.texts;
DROP OWNED BY regress_covers_slurm;
DROP ROLE regress_covers_slurm;
