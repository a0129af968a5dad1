-- The store as a front sees it: what the two must agree in, and how far it is.
CREATE OR REPLACE VIEW jobstats.node_state AS
SELECT s.node, s.front, s.version, d.datcollate || ' ' || d.encoding AS sorting, d.oid AS database, pg_postmaster_start_time() AS started,
    (SELECT count(*) FROM jobstats.targets t WHERE t.retired IS NULL) AS targets,
    (SELECT max(t.last_observation) FROM jobstats.targets t) AS last_observation,
    (SELECT min(r.refreshed) FROM jobstats.rollups r WHERE r.level = '10m') AS refreshed
FROM jobstats.settings s
JOIN pg_database d ON d.datname = current_database();
