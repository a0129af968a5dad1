-- jobstats_reprocess(): what the audit finds is computed anew and replaced.
\i readings.sql
\set ECHO all
-- The stored rows, for later comparison.
CREATE VIEW everything AS
SELECT 'increments' AS relation, to_jsonb(i) AS stored FROM jobstats.increments i
UNION ALL SELECT 'observations', to_jsonb(o) FROM jobstats.observations o
UNION ALL SELECT 'raw', to_jsonb(r) FROM jobstats.raw r
UNION ALL SELECT 'entries', to_jsonb(e) - 'first_seen' FROM jobstats.entries e;
CREATE TABLE truth AS TABLE everything;
CREATE FUNCTION wrong() RETURNS TABLE (relation text, rows bigint) LANGUAGE sql STABLE AS $$
SELECT d.relation, count(*) FROM (
    (TABLE everything EXCEPT ALL TABLE truth) UNION ALL (TABLE truth EXCEPT ALL TABLE everything)) d
GROUP BY d.relation ORDER BY d.relation
$$;

-- Right rows are not computed again.
SELECT * FROM jobstats_reprocess('2025-11-03 07:00', '2025-11-03 09:00');
SELECT * FROM wrong();

-- Rows that were changed, that are gone or twice there, between observations; counts; carried records that are gone or
-- cannot be read; entries without a name.
UPDATE jobstats.increments SET write = 7, punch = 3 WHERE target_id = target('fs-OST0000') AND observed = '2025-11-03 08:02' AND write = 2;
DELETE FROM jobstats.increments WHERE target_id = target('fs-MDT0000') AND observed = '2025-11-03 08:08' AND open = 3;
INSERT INTO jobstats.increments SELECT * FROM jobstats.increments WHERE target_id = target('fs-OST0000') AND observed = '2025-11-03 08:04' AND write = 1;
INSERT INTO jobstats.increments ("time", since, observed, entry_id, target_id, reset, write)
VALUES ('2025-11-03 08:05', '2025-11-03 08:04', '2025-11-03 08:05', 1, target('fs-OST0000'), false, 1),
    ('2025-11-03 08:00', '2025-11-03 07:58', '2025-11-03 08:00', 1, target('fs-OST0000'), false, 1),
    ('2025-11-03 08:04', '2025-11-03 08:02', '2025-11-03 08:14', 1, target('fs-OST0000'), false, 1);
UPDATE jobstats.observations SET active = 5, unknown = 7, bytes = 1, server = 'n3' WHERE target_id = target('fs-OST0000') AND "time" IN ('2025-11-03 08:00', '2025-11-03 08:06');
UPDATE jobstats.observations SET since = '2025-11-03 08:02' WHERE target_id = target('fs-MDT0000') AND "time" = '2025-11-03 08:06';
UPDATE jobstats.raw SET carried = NULL WHERE target_id = target('fs-MDT0000') AND "time" = '2025-11-03 08:04';
UPDATE jobstats.raw SET carried = 'nonsense' WHERE target_id = target('fs-OST0000') AND "time" = '2025-11-03 08:04';
DELETE FROM jobstats.entries WHERE name = 'z.1';
SELECT * FROM wrong();
CREATE TEMPORARY TABLE damaged AS SELECT target, "time" FROM jobstats_audit('2025-11-03 07:00', '2025-11-03 09:00');
BEGIN;
SELECT * FROM jobstats_reprocess('2025-11-03 07:00', '2025-11-03 09:00');
SELECT * FROM wrong();
SELECT * FROM jobstats_audit('2025-11-03 07:00', '2025-11-03 09:00');
-- All or none.
ROLLBACK;
SELECT target, "time" FROM jobstats_audit('2025-11-03 07:00', '2025-11-03 09:00') EXCEPT ALL TABLE damaged;

-- A part of the targets, a part of the time.
SELECT * FROM jobstats_reprocess('2025-11-03 07:00', '2025-11-03 09:00', 'target=*-MDT*');
SELECT * FROM jobstats_reprocess('2025-11-03 07:00', '2025-11-03 08:02', 'target=fs-OST0000');
SELECT DISTINCT target, "time" FROM jobstats_audit('2025-11-03 07:00', '2025-11-03 09:00') ORDER BY target, "time";
SELECT * FROM jobstats_reprocess('2025-11-03 08:02', '2025-11-03 09:00', 'target=fs-OST0000');
SELECT * FROM wrong();
-- Again: no more changes.
SELECT * FROM jobstats_reprocess('2025-11-03 07:00', '2025-11-03 09:00');
SELECT job, uid, executable, status FROM jobstats.entries WHERE name = 'z.1';

-- A wrong carried record, and wrong later rows. Reprocessing one observation corrects the following ones.
UPDATE jobstats.raw SET carried = NULL WHERE target_id = target('fs-OST0000') AND "time" IN ('2025-11-03 08:04', '2025-11-03 08:06');
UPDATE jobstats.observations SET carried = 0 WHERE target_id = target('fs-OST0000') AND "time" IN ('2025-11-03 08:04', '2025-11-03 08:06');
UPDATE jobstats.observations SET added = added + 1 WHERE target_id = target('fs-OST0000') AND "time" = '2025-11-03 08:08';
UPDATE jobstats.increments SET since = '2025-11-03 08:06', write = 9, write_bytes = 36864
WHERE target_id = target('fs-OST0000') AND observed = '2025-11-03 08:08' AND write = 3;
SELECT * FROM jobstats_reprocess('2025-11-03 08:02', '2025-11-03 08:04', 'target=fs-OST0000');
SELECT * FROM wrong();

-- Text that is gone or not what came: what cannot be computed stays as it is.
BEGIN;
DELETE FROM jobstats.raw WHERE target_id = target('fs-OST0001') AND "time" = '2025-11-03 08:06';
UPDATE jobstats.raw SET body = 'nonsense' WHERE target_id = target('fs-MDT0000') AND "time" = '2025-11-03 08:08';
UPDATE jobstats.increments SET write = write + 100 WHERE target_id = target('fs-OST0001') AND observed >= '2025-11-03 08:04';
SELECT * FROM jobstats_reprocess('2025-11-03 07:00', '2025-11-03 09:00');
SELECT minute(since) AS since, minute("time") AS "time", write FROM jobstats.increments WHERE target_id = target('fs-OST0001') ORDER BY "time";
SELECT target, "time", what, stored, computed FROM jobstats_audit('2025-11-03 07:00', '2025-11-03 09:00');
DELETE FROM jobstats.raw;
SELECT * FROM jobstats_reprocess('2025-11-03 07:00', '2025-11-03 09:00');
SELECT count(*) > 10 AS still_there FROM jobstats.increments;
ROLLBACK;

-- An observation that is gone: the next one is compared with the one before.
BEGIN;
DELETE FROM jobstats.observations WHERE target_id = target('fs-OST0001') AND "time" = '2025-11-03 08:06';
DELETE FROM jobstats.raw WHERE target_id = target('fs-OST0001') AND "time" = '2025-11-03 08:06';
SELECT * FROM jobstats_reprocess('2025-11-03 08:06', '2025-11-03 08:10', 'target=fs-OST0001');
SELECT minute(since) AS since, minute("time") AS "time", write FROM jobstats.increments WHERE target_id = target('fs-OST0001') ORDER BY "time";
SELECT * FROM jobstats_audit('2025-11-03 07:00', '2025-11-03 09:00');
-- It comes again, late.
SELECT action FROM jobstats_ingest('', 'n2', at(6), ost('fs-OST0001', record('a.1', 6, 6 * 4096)));
SELECT relation, stored - 'received' FROM everything EXCEPT ALL SELECT relation, stored - 'received' FROM truth;
SELECT * FROM jobstats_audit('2025-11-03 07:00', '2025-11-03 09:00');
ROLLBACK;

-- More observations than are in memory at once. b is carried from the first to the last; that is forgotten, and all is
-- counted wrongly. Reprocessing the second observation puts right all that follow.
BEGIN;
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'n2', at(n / 10.0), E'obdfilter.fs-OST0002.job_cleanup_interval=3600\n'
    || ost('fs-OST0002', record('a.1', n, n * 4096), CASE WHEN n IN (0, 600) THEN record('b.1', 1 + n, 4096 * (1 + n)) END)
FROM generate_series(0, 600) AS n;
CREATE VIEW sums AS
SELECT entry, count(*), sum(write) AS write, min(since) AS since, max(until) AS until
FROM increments WHERE target = 'fs-OST0002' GROUP BY entry ORDER BY entry;
TABLE sums;
UPDATE jobstats.raw SET carried = NULL WHERE target_id = target('fs-OST0002');
UPDATE jobstats.increments SET write = 1000 WHERE target_id = target('fs-OST0002');
SELECT * FROM jobstats_reprocess('2025-11-03 08:00', '2025-11-03 08:00:06', 'target=fs-OST0002');
TABLE sums;
SELECT * FROM jobstats_audit('2025-11-03 07:00', '2025-11-03 09:30');
ROLLBACK;

-- An empty window; an unknown target; no window; other isolation levels, a read-only transaction.
SELECT * FROM jobstats_reprocess('2025-11-03 06:00', '2025-11-03 07:00');
SELECT * FROM jobstats_reprocess('2025-11-03 07:00', '2025-11-03 09:00', 'target=fs');
SELECT * FROM jobstats_reprocess('2025-11-03 09:00', '2025-11-03 09:00');
\echo :LAST_ERROR_SQLSTATE
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT * FROM jobstats_reprocess('2025-11-03 07:00', '2025-11-03 09:00');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;

-- Readers may audit, and not reprocess.
CREATE ROLE regress_auditor;
SET client_min_messages = warning;
SELECT jobstats_grant_reader('regress_auditor');
RESET client_min_messages;
SET SESSION AUTHORIZATION regress_auditor;
SELECT * FROM jobstats_audit('2025-11-03 07:00', '2025-11-03 09:00');
SELECT * FROM jobstats_reprocess('2025-11-03 07:00', '2025-11-03 09:00');
RESET SESSION AUTHORIZATION;
SET client_min_messages = warning;
DROP OWNED BY regress_auditor;
DROP ROLE regress_auditor;
SELECT * FROM wrong_spans();
DROP SCHEMA jobstats CASCADE;
SELECT * FROM jobstats_reprocess('2025-11-03 07:00', '2025-11-03 09:00');
\echo :LAST_ERROR_SQLSTATE
