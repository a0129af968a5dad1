-- Unreferenced entries are deleted, unless a rollup is kept for ever.
\i store.sql
\set ECHO all

-- Each cluster has one entry, active at a single time.
CREATE FUNCTION feed(cluster text, "time" timestamptz) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES
    (cluster, 'oss1', "time", ost('fs-OST0000', record(cluster || '.1', 1, 4096))),
    (cluster, 'oss1', "time" + interval '1 second', ost('fs-OST0000', record(cluster || '.1', 2, 8192)))
$$;
CREATE FUNCTION unused(numbers int4range) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.entries (entry_id, name, status, workload, first_seen)
SELECT hashint8extended(n, 0), 'unused ' || n, 'malformed', 'unused ' || n, '2015-06-01'
FROM generate_series(lower(numbers), upper(numbers) - 1) n
$$;
CREATE VIEW known AS
SELECT split_part(name, ' ', 1) AS name, count(*) FROM jobstats.entries GROUP BY 1 ORDER BY 1;
CREATE VIEW did AS
SELECT affected, problem FROM jobstats.maintenance WHERE step = 'retention of entries' ORDER BY began;

-- No entry is deleted.
UPDATE jobstats.settings SET personal_retention = '100 years';
-- Text of any age is taken as long as raw text is kept.
SELECT jobstats_setup(raw_retention => '100 years', retention => '100 years') IS NOT NULL AS ready;
SELECT feed('gone', '2015-06-01'), feed('summed', now() - interval '20 days'), feed('late', now() - interval '1 day'),
    feed('now', now() - interval '2 seconds');
SELECT jobstats_setup(raw_retention => '2 days', retention => '90 days') IS NOT NULL AS ready;
SELECT unused('[1,25000]');
CALL jobstats_maintain();
-- One is in rollups alone, one in increments alone, one in both, one in neither.
SELECT jobstats_setup(retention => '2 days') IS NOT NULL AS ready;
CALL jobstats_maintain();
SELECT e.name, count(i.*) > 0 AS increments, EXISTS (SELECT FROM jobstats.rollup_10m r WHERE r.entry_id = e.entry_id) AS rollups
FROM jobstats.entries e LEFT JOIN jobstats.increments i ON i.entry_id = e.entry_id
WHERE e.name NOT LIKE 'unused %' GROUP BY e.entry_id, e.name ORDER BY e.name;
SELECT feed('dirty', now() - interval '1 day');
UPDATE jobstats.entries SET first_seen = '2015-06-01';
-- As long as a rollup is kept for ever, so are entries.
TABLE known;
TABLE did;
SELECT jobstats_setup(rollup_1d_retention => '2 years') IS NOT NULL AS ready;
CALL jobstats_maintain();
TABLE known;
TABLE did;
SELECT after, deleted FROM jobstats.sweep;

-- A pass a day; entries seen since the horizon stay.
SELECT unused('[1,3]');
UPDATE jobstats.entries SET first_seen = now() - interval '2 years' + interval '1 minute' WHERE name = 'unused 2';
CALL jobstats_maintain();
TABLE known;
UPDATE jobstats.sweep SET ended = now() - interval '1 day';
CALL jobstats_maintain();
TABLE known;
TABLE did;
-- Who comes back is an entry as before.
SELECT entry_id FROM jobstats.increments i JOIN jobstats.targets t USING (target_id) WHERE t.cluster = 'gone';
SELECT feed('gone', now() - interval '2 seconds');
SELECT e.name, sum(i.write) AS write FROM jobstats.increments i JOIN jobstats.entries e USING (entry_id) GROUP BY e.name ORDER BY e.name;
