-- Formats of some clusters: an identifier is read by the formats of the clusters that have sent it.
\i store.sql
\set ECHO all
\set VERBOSITY terse
CREATE FUNCTION send(cluster text, minute numeric, calls bigint, VARIADIC names text[]) RETURNS bigint LANGUAGE sql AS $$
SELECT count(f) FROM jobstats_ingest(cluster, cluster || '-oss1', at(minute),
    ost(cluster || '-OST0000', VARIADIC ARRAY(SELECT record(n, calls, calls * 4096) FROM unnest(names) n))) f
$$;
CREATE VIEW identities AS
SELECT name, job, uid, node, executable, format, status, clusters FROM jobstats.entries ORDER BY name COLLATE "C";

-- Two file systems whose clients have other formats. At first all entries are read alike, without their sender.
SELECT send('alpha', 0, 1, '17:5:n1', '18:6:n2', 'dd.0'), send('beta', 0, 1, '17:5:n1', '19:7:n3', 'dd.0');
SELECT send('alpha', 2, 2, '17:5:n1', '18:6:n2', 'dd.0'), send('beta', 2, 2, '17:5:n1', '19:7:n3', 'dd.0');
TABLE identities;

-- Clients of beta send the user first. Maintenance notices it, and finds out who sent what.
UPDATE jobstats.entry_formats SET cluster = 'alpha' WHERE format = '%j:%u:%H';
INSERT INTO jobstats.entry_formats (priority, format, cluster) VALUES (3, '%u:%j:%H', 'b*');
SELECT states, remedy FROM jobstats.health WHERE target IS NULL AND remedy LIKE 'Identifiers%';
CALL jobstats_maintain();
SELECT states, remedy FROM jobstats.health WHERE target IS NULL AND remedy LIKE 'Identifiers%';
-- What both have sent and read differently is unknown but for the node.
TABLE identities;
SELECT cluster, uid, total FROM (SELECT * FROM jobstats_totals(at(0), at(2), 'write', 'cluster,uid') r, dims(r.labels)) AS jobstats_totals ORDER BY 1, 2;
SELECT entry, i.* FROM unnest('{17:5:n1,18:6:n2,19:7:n3,20:8:n4,dd.0}'::text[]) WITH ORDINALITY AS e (entry, position), jobstats_identify(entry) i
ORDER BY position;

-- Feeds read by the formats of their cluster. An identifier that another cluster sends too is read again by maintenance.
SELECT send('alpha', 4, 3, '17:5:n1', '18:6:n2', 'dd.0', '30:9:n5'), send('beta', 4, 3, '17:5:n1', '19:7:n3', 'dd.0', '31:9:n6', '18:6:n2');
SELECT * FROM identities WHERE name IN ('18:6:n2', '30:9:n5', '31:9:n6');
SELECT e.name FROM jobstats.to_identify q JOIN jobstats.entries e USING (entry_id);
CALL jobstats_maintain();
SELECT * FROM identities WHERE name IN ('18:6:n2', '30:9:n5', '31:9:n6');
SELECT count(*) FROM jobstats.to_identify;
-- A cluster without a format does not count: its clients may belong to another cluster.
SELECT send('gamma', 0, 1, '30:9:n5', 'x:1:n1'), send('gamma', 2, 2, '30:9:n5', 'x:1:n1');
CALL jobstats_maintain();
SELECT * FROM identities WHERE name IN ('30:9:n5', 'x:1:n1');
-- All at once is the same.
CREATE TABLE before AS TABLE identities;
SELECT jobstats_reidentify();
UPDATE jobstats.entries SET clusters = NULL;
UPDATE jobstats.identification SET formats = NULL;
SELECT jobstats_reidentify();
(TABLE before EXCEPT TABLE identities) UNION ALL (TABLE identities EXCEPT TABLE before);
-- Also where only rollups still have the senders.
CALL jobstats_maintain();
UPDATE jobstats.rollups SET refreshed = jobstats_internal.bucket(width, now()) + width;
UPDATE jobstats.entries SET clusters = NULL;
UPDATE jobstats.identification SET formats = NULL;
CALL jobstats_maintain();
(TABLE before EXCEPT TABLE identities) UNION ALL (TABLE identities EXCEPT TABLE before);

-- Reprocessing stores entries that are gone by the formats of their cluster.
DELETE FROM jobstats.entries WHERE name IN ('18:6:n2', '31:9:n6');
DELETE FROM jobstats.increments WHERE entry_id NOT IN (SELECT entry_id FROM jobstats.entries);
SELECT cluster, changed FROM jobstats_reprocess(at(-1), at(10)) ORDER BY cluster;
CALL jobstats_maintain();
SELECT * FROM identities WHERE name IN ('18:6:n2', '31:9:n6');

-- The pattern in a feed's first NOTICE applies to its cluster too.
SELECT send('delta', 0, 1, 'a@1@n1', 'b@2@n1');

-- At most 100 clusters of an identifier are noted.
SELECT sum(send('c' || n, 0, 1, 'many.1')) + sum(send('c' || n, 2, 2, 'many.1')) FROM generate_series(1, 103) n;
SELECT cardinality(clusters) FROM jobstats.entries WHERE name = 'many.1';

-- Without such formats the sender does not matter. Where the formats of all clusters read different users, there is no user.
UPDATE jobstats.entry_formats SET cluster = NULL;
CALL jobstats_maintain();
SELECT count(*) FILTER (WHERE clusters IS NOT NULL) AS noted, count(*) FILTER (WHERE uid IS NULL) AS without_user FROM jobstats.entries;
