-- jobstats_audit() compares stored rows with the raw text.
\i readings.sql
\set ECHO all

SELECT * FROM jobstats_audit('2025-11-03 07:00', '2025-11-03 09:00');
-- The window is right-closed; what lies before it is read and not judged.
SELECT * FROM jobstats_audit('2025-11-03 08:02', '2025-11-03 08:04');
SELECT * FROM jobstats_audit('2025-11-03 06:00', '2025-11-03 07:00');
-- By default the last ten minutes.
SELECT * FROM jobstats_audit();
SELECT * FROM jobstats_audit(NULL, NULL);
SELECT * FROM jobstats_audit('2025-11-03 09:00', '2025-11-03 09:00');
\echo :LAST_ERROR_SQLSTATE

-- It is read-only.
BEGIN READ ONLY;
SELECT * FROM jobstats_audit('2025-11-03 07:00', '2025-11-03 09:00');
SELECT pg_current_xact_id_if_assigned() IS NULL AS nothing_written;
COMMIT;

-- Somebody has changed a figure.
BEGIN;
UPDATE jobstats.increments SET write = 7 WHERE target_id = target('fs-OST0000') AND observed = '2025-11-03 08:02' AND write = 2;
SELECT target, "time", entry, what, stored, computed FROM jobstats_audit('2025-11-03 08:00', '2025-11-03 09:00');
ROLLBACK;

-- Increments that were changed, that are gone, twice there, or invented.
BEGIN;
UPDATE jobstats.increments SET write = 7, punch = 3 WHERE target_id = target('fs-OST0000') AND observed = '2025-11-03 08:02' AND write = 2;
DELETE FROM jobstats.increments WHERE target_id = target('fs-MDT0000') AND observed = '2025-11-03 08:08' AND getattr IS NULL AND open = 3;
INSERT INTO jobstats.increments SELECT * FROM jobstats.increments WHERE target_id = target('fs-OST0000') AND observed = '2025-11-03 08:04' AND write = 1;
SELECT * FROM jobstats_audit('2025-11-03 08:00', '2025-11-03 09:00');
ROLLBACK;
-- Another span; a flag, a histogram, a detail.
BEGIN;
UPDATE jobstats.increments SET "time" = '2025-11-03 08:11' WHERE target_id = target('fs-OST0000') AND observed = '2025-11-03 08:14' AND "time" = '2025-11-03 08:10';
UPDATE jobstats.increments SET reset = true, last_active = '2025-11-03 08:00', detail = '\x050264', sizes = '\x0101010200'
WHERE target_id = target('fs-MDT0000') AND observed = '2025-11-03 08:14' AND entry_id = (SELECT entry_id FROM jobstats.entries WHERE name = 'x.1') AND "time" = '2025-11-03 08:14';
SELECT target, "time", entry, what, stored, computed FROM jobstats_audit('2025-11-03 08:08', '2025-11-03 09:00');
ROLLBACK;

-- Packed values that a feed did not make are shown as NULL, differ, and are computed again.
BEGIN;
UPDATE jobstats.increments SET detail = '\x05', sizes = '\x05' WHERE target_id = target('fs-MDT0000') AND observed = '2025-11-03 08:14';
SELECT count(*), count(detail) AS details, count(read_bytes_hist) AS sizes FROM jobstats.increments_rows WHERE observed = '2025-11-03 08:14' AND target_id = target('fs-MDT0000');
SELECT target, "time", entry, what, stored, computed FROM jobstats_audit('2025-11-03 08:08', '2025-11-03 09:00');
SELECT name, changed FROM jobstats_reprocess('2025-11-03 08:08', '2025-11-03 09:00') WHERE changed > 0;
SELECT * FROM jobstats_audit('2025-11-03 08:08', '2025-11-03 09:00');
ROLLBACK;

-- Increments without an observation, at a time without one, of an unknown target, and of an entry without a name.
BEGIN;
INSERT INTO jobstats.increments ("time", since, observed, entry_id, target_id, reset, write)
VALUES ('2025-11-03 08:05', '2025-11-03 08:04', '2025-11-03 08:05', 1, target('fs-OST0000'), false, 1),
    ('2025-11-03 08:30', '2025-11-03 08:20', '2025-11-03 08:30', 1, target('fs-OST0000'), true, 2),
    ('2025-11-03 08:20', '2025-11-03 08:18', '2025-11-03 08:14', 1, target('fs-OST0000'), false, 3),
    ('2025-11-03 08:06', '2025-11-03 08:05', '2025-11-03 08:06', 1, 4711, false, 4),
    -- Of an observation, but long before it.
    ('2025-11-03 08:04', '2025-11-03 08:02', '2025-11-03 08:14', 1, target('fs-OST0001'), false, 5);
DELETE FROM jobstats.entries WHERE name = 'y.1';
SELECT cluster, target, "time", entry, what, stored, computed FROM jobstats_audit('2025-11-03 08:00', '2025-11-03 09:00');
-- So do parallel workers, where they are left to do all of it.
SET LOCAL parallel_leader_participation = off;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SELECT count(*) FROM jobstats_audit('2025-11-03 08:00', '2025-11-03 09:00');
ROLLBACK;

-- More than anybody reads.
BEGIN;
INSERT INTO jobstats.increments ("time", since, observed, entry_id, target_id, reset, write)
SELECT '2025-11-03 08:30', '2025-11-03 08:20', '2025-11-03 08:30', n, target('fs-OST0000'), false, 1 FROM generate_series(1, 100001) AS n;
SELECT count(*) FROM jobstats_audit('2025-11-03 08:00', '2025-11-03 09:00');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;

-- Columns of observations.
BEGIN;
UPDATE jobstats.observations SET active = 5, unknown = 7, bytes = 1, server = 'n3' WHERE target_id = target('fs-OST0000') AND "time" = '2025-11-03 08:06';
UPDATE jobstats.observations SET since = '2025-11-03 08:02' WHERE target_id = target('fs-MDT0000') AND "time" = '2025-11-03 08:06';
UPDATE jobstats.observations SET since = '2025-11-03 07:50' WHERE target_id = target('fs-MDT0000') AND "time" = '2025-11-03 08:08';
SELECT * FROM jobstats_audit('2025-11-03 07:00', '2025-11-03 09:00');
ROLLBACK;

-- Carried records: gone, different, unreadable. Later observations are compared with the correct ones.
BEGIN;
UPDATE jobstats.raw SET carried = NULL WHERE target_id = target('fs-MDT0000') AND "time" = '2025-11-03 08:04';
SELECT * FROM jobstats_audit('2025-11-03 08:00', '2025-11-03 09:00');
UPDATE jobstats.raw SET carried = zstd(convert_to(ost('fs-OST0000', record('q.1', 1, 1)), 'UTF8')) WHERE target_id = target('fs-OST0000') AND "time" IN ('2025-11-03 08:00', '2025-11-03 08:06');
UPDATE jobstats.raw SET carried = 'nonsense' WHERE target_id = target('fs-MDT0000') AND "time" = '2025-11-03 08:04';
SELECT * FROM jobstats_audit('2025-11-03 07:00', '2025-11-03 09:00');
-- Before the window what cannot be read leaves the first observation unjudged.
SELECT * FROM jobstats_audit('2025-11-03 08:04', '2025-11-03 08:06');
ROLLBACK;

-- Raw text that is not what came: unpacked to something else, not to be unpacked, gone. It and what follows it cannot be
-- judged; the rest can.
BEGIN;
UPDATE jobstats.raw SET body = zstd(convert_to(ost('fs-OST0000', record('a.1', 99, 99)), 'UTF8')) WHERE target_id = target('fs-OST0000') AND "time" = '2025-11-03 08:02';
UPDATE jobstats.raw SET body = 'nonsense' WHERE target_id = target('fs-MDT0000') AND "time" = '2025-11-03 08:08';
DELETE FROM jobstats.raw WHERE target_id = target('fs-OST0001') AND "time" = '2025-11-03 08:10';
SELECT * FROM jobstats_audit('2025-11-03 07:00', '2025-11-03 09:00');
-- The next text is fed all the same.
SELECT i.action, i.unknown FROM jobstats_ingest('', 'n1', at(9), mdt('fs-MDT0000', life('x.1', at(3), 5, 50), life('y.1', at(7), 1, 10))) i;
UPDATE jobstats.raw SET body = 'nonsense' WHERE target_id = target('fs-MDT0000') AND "time" = '2025-11-03 08:14';
SELECT i.action, i.entries, i.unknown, i.increments FROM jobstats_ingest('', 'n1', at(16), mdt('fs-MDT0000', life('x.1', at(3), 6, 60), life('y.1', at(15), 1, 10))) i;
ROLLBACK;

-- Observations without raw text, after retention, cannot be checked.
BEGIN;
DELETE FROM jobstats.raw WHERE "time" < '2025-11-03 08:04';
SELECT * FROM jobstats_audit('2025-11-03 07:00', '2025-11-03 09:00');
DELETE FROM jobstats.observations WHERE "time" < '2025-11-03 08:04';
DELETE FROM jobstats.increments WHERE "time" < '2025-11-03 08:03';
SELECT * FROM jobstats_audit('2025-11-03 07:00', '2025-11-03 09:00');
DELETE FROM jobstats.observations WHERE "time" = '2025-11-03 08:08';
SELECT "time", entry, what, regexp_replace(stored, '^\d+ bytes', 'N bytes') AS stored, computed
FROM jobstats_audit('2025-11-03 07:00', '2025-11-03 09:00') WHERE target = 'fs-OST0001';
ROLLBACK;

-- The cleanup interval decides how long b is carried. It was shipped apart from the texts, and changed in between: 15
-- minutes until minute 2, 90 seconds until minute 4.
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('n1', at(0), ost('fs-OST0002', record('a.1', 1, 4096), record('b.1', 1, 4096))),
    ('n1', at(2), ost('fs-OST0002', record('a.1', 2, 8192))),
    ('n1', at(2), E'obdfilter.fs-OST0002.job_cleanup_interval=60\n'),
    ('n1', at(4), ost('fs-OST0002', record('a.1', 3, 12288)));
SELECT minute("time") AS "time", carried, cleanup_interval FROM jobstats.observations WHERE target_id = target('fs-OST0002') ORDER BY 1;
SELECT * FROM jobstats_audit('2025-11-03 07:00', '2025-11-03 09:00');
-- Late text does not change that.
INSERT INTO jobstats.feed (server, "time", body) VALUES ('n1', at(1), ost('fs-OST0002', record('a.1', 1, 4096), record('b.1', 1, 4096)));
SELECT minute("time") AS "time", carried, cleanup_interval FROM jobstats.observations WHERE target_id = target('fs-OST0002') ORDER BY 1;
SELECT * FROM jobstats_audit('2025-11-03 07:00', '2025-11-03 09:00');

SET client_min_messages = warning;
DROP SCHEMA jobstats CASCADE;
SELECT * FROM jobstats_audit();
\echo :LAST_ERROR_SQLSTATE
