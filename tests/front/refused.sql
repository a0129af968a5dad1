-- Operations that a front refuses, and databases that it rejects as a node.
\set VERBOSITY verbose
\set SHOW_CONTEXT never
\set ON_ERROR_STOP off
\pset format unaligned
INSERT INTO jobstats.feed (server, body) VALUES ('oss1', '');
SELECT jobstats_setup();
CALL jobstats_detect();
SELECT * FROM jobstats_reprocess('2026-03-10Z', '2026-03-11Z');
SELECT count(*) FROM jobstats_audit('2026-03-10Z', '2026-03-11Z');
SELECT jobstats_reidentify();
SELECT * FROM jobstats_forget_user(20000);
SELECT jobstats_drop_targets('{*}');
CALL jobstats_convert();
SELECT jobstats_attach('Node', host => :'host', dbname => 'front node0');
SELECT jobstats_confirm_event(1, 'real');
SELECT jobstats_attach('node0', host => :'host', dbname => 'front node0');
SELECT jobstats_attach('other', host => :'host', dbname => 'front node0');
SELECT jobstats_attach('other');
SELECT jobstats_attach('self', host => :'host', dbname => 'front front', "user" => 'postgres');
SELECT jobstats_attach('again', host => :'host', dbname => 'front node0', "user" => 'postgres');
SELECT jobstats_attach('gone', host => '/nowhere', dbname => 'front node0', "user" => 'postgres');
SELECT jobstats_detach('other');
SELECT name, node, accounting, version = (SELECT extversion FROM pg_extension WHERE extname = 'jobstats') AS same, targets, last_observation, problem
FROM jobstats.front_nodes;
SELECT line FROM regexp_split_to_table(jobstats_metrics(), E'\n') line WHERE line ~ '^jobstats_node_up';
SET ROLE front_reader;
SELECT jobstats_detach('node0');
RESET ROLE;
-- The next node has the accounting.
SELECT jobstats_detach('node0');
SELECT count(*) > 0 AS has_jobs FROM jobstats.jobs;
SELECT jobstats_attach('node0', host => :'host', dbname => 'front node0', "user" => 'postgres');
-- A node that is gone is named, and questions go on without it once it is detached.
ALTER SERVER jobstats_node3 OPTIONS (SET dbname 'front gone');
SELECT target, states FROM jobstats.health WHERE states = '{node}' AND remedy IS NOT NULL;
SELECT jobstats_detach('node3');
SELECT count(*) AS targets FROM jobstats_targets('2026-03-10 02:50Z');
-- Attaching once more makes the front anew.
SELECT jobstats_attach('node2');
SELECT rank, name FROM jobstats_top('2026-03-10 00:10Z', '2026-03-10 02:50Z', by => 'account', n => 1);
\c "front single"
SELECT jobstats_setup(node => -1);
SELECT jobstats_drop_targets(NULL);
SELECT jobstats_drop_targets('{*}');
SELECT jobstats_drop_targets('{*-MDT*}', 'alpha');
SELECT min(t.name) AS one FROM jobstats.targets t JOIN jobstats.observations o ON o.target_id = t.target_id WHERE o.server ~ 'oss1' \gset
SELECT jobstats_alter_target(:'one', 'alpha', retired => true);
SELECT jobstats_drop_targets(ARRAY[:'one'], 'alpha');
SELECT * FROM jobstats.front_nodes;
SELECT jobstats_detach('other');
SELECT jobstats_attach('node0', host => 'x', dbname => 'y');
CREATE EXTENSION postgres_fdw;
SELECT jobstats_attach('node0', host => 'x', "user" => 'z');
