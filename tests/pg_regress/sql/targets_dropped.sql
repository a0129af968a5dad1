-- Of two copies of a store, each drops the targets of the other. What belongs to no target alone is left in one of them.
\i store.sql
\set ECHO all
\set VERBOSITY terse
INSERT INTO jobstats.feed (server, "time", body)
SELECT server, at(m), ost(target, record('dd.1000', m, m * 4096))
FROM (VALUES ('oss1', 'a-OST0000'), ('oss2', 'a-OST0001'), ('oss2', 'b-OST0000')) AS t (server, target), generate_series(0, 20, 10) AS m;
INSERT INTO jobstats.used (day, cluster, filesystem, kind, id, kbytes, targets)
SELECT '2025-11-03', '', filesystem, 'user', 1000, 4096, 1 FROM unnest('{a,b}'::text[]) filesystem;
-- A server that has no known target, and one that is elsewhere.
INSERT INTO jobstats.server_hours (bucket, observed_usecs, requests, wait_usecs, depth, active, cluster, server, service)
SELECT at(0), 1, 1, 1, 1, 1, cluster, server, 'ost.OSS.ost_io' FROM (VALUES ('', 'oss1'), ('', 'oss2'), ('', 'mgs'), ('east', 'oss1')) AS s (cluster, server);
-- A job that accounting still knows, and one that is gone.
INSERT INTO jobstats.job_ids (scheduler, job, runs, started, ended, last_started) VALUES ('', '1', 1, at(0), at(5), at(0));
INSERT INTO jobstats.job_summaries (job_no, scheduler, job, runs, started, ended, run_time, active_nodes, targets, read_bytes, write_bytes, read, write, opens, metadata,
    operations, made)
SELECT n, '', n::text, 1, at(0), at(5), '5 minutes', 1, 1, 0, 8192, 0, 2, 0, 0, '{}', now() FROM generate_series(1, 2) n;
INSERT INTO jobstats.events (kind, cluster, filesystem, began, found, until, updated, severity, targets, servers, rate, details)
SELECT kind, '', 'a', at(0), at(0), at(1), at(1), 'info', targets, servers, 1, '{}'
FROM (VALUES ('slow_target', '{a-OST0001,a-OST0000}'::text[], '{oss1,oss2}'::text[]), ('full', '{old-OST0000}', '{}'), ('waiting', '{}', '{oss2}'), ('rule', '{}', '{}')) AS e (kind, targets, servers);
INSERT INTO jobstats.earlier_names SELECT cluster, 'old-OST0000', target_id, now() FROM jobstats.targets WHERE name = 'b-OST0000';
INSERT INTO jobstats.expected (server, target) VALUES ('oss2', NULL), (NULL, 'a-OST0000'), (NULL, 'a-OST0001'), ('mgs', NULL);
CREATE VIEW stored AS
SELECT kind, string_agg(name, ', ' ORDER BY name COLLATE "C")
FROM (SELECT 'targets', name FROM jobstats.targets UNION ALL SELECT 'increments', target FROM increments UNION ALL SELECT 'observations', target FROM observations
    UNION ALL SELECT 'used', filesystem FROM jobstats.used UNION ALL SELECT 'summaries', job FROM jobstats.job_summaries UNION ALL SELECT 'to summarize', job_no::text FROM jobstats.to_summarize
    UNION ALL SELECT 'servers', cluster || '/' || server FROM jobstats.server_hours UNION ALL SELECT 'events', kind FROM jobstats.events
    UNION ALL SELECT 'expected', coalesce(server, target) FROM jobstats.expected) AS s (kind, name)
GROUP BY kind ORDER BY kind COLLATE "C";
SELECT jobstats_alter_target(name, retired => true) IS NOT NULL AS retired FROM jobstats.targets;
BEGIN;
SELECT jobstats_drop_targets('{a-OST0000}');
TABLE stored;
ROLLBACK;
BEGIN;
SELECT jobstats_drop_targets('{*1,b-*}');
TABLE stored;
ROLLBACK;
-- Some of the targets of a server are not dropped, and neither are targets that report.
SELECT jobstats_drop_targets('{b-*}');
INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', at(30), ost('a-OST0000', record('dd.1000', 30, 0)));
SELECT jobstats_drop_targets('{a-OST0000}');
SELECT jobstats_drop_targets('{a-OST0000}', 'east');
-- A store that gets a number twice goes on behind the numbers that it has.
DO $$ BEGIN PERFORM jobstats_setup(node => 1); PERFORM jobstats_setup(node => 2); END $$;
INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss3', at(30), ost('c-OST0000'));
SELECT target_id - 2 * 65536 AS number, name FROM jobstats.targets ORDER BY 1;
