-- The view quality: per hour and target, how much of the data can be trusted and attributed.
\i reading.sql
\set ECHO all
\pset null '(null)'

-- Hours are full hours, UTC; this one began two to three hours ago.
SELECT date_trunc('hour', now(), 'UTC') - interval '2 hours' AS zero \gset
CREATE FUNCTION world.past(minute numeric) RETURNS timestamptz LANGUAGE sql IMMUTABLE RETURN timestamptz :'zero' + minute * interval '1 minute';
CREATE FUNCTION world.hour("time" timestamptz) RETURNS numeric LANGUAGE sql STABLE AS $$
SELECT trim_scale(extract(epoch FROM "time" - past(0)) / 3600)
$$;
SELECT count(*) FROM jobstats.quality;
DO $$ BEGIN
    PERFORM observe('', 'scratch-OST0000', 'oss1', ARRAY(SELECT past(minute) FROM generate_series(0, 120, 10) AS minute WHERE minute NOT IN (80, 90)));
    PERFORM observe('', 'scratch-MDT0000', 'mds1', ARRAY(SELECT past(minute) FROM generate_series(0, 60, 10) AS minute));
    -- The same entry twice is one entry.
    PERFORM act('', 'scratch-OST0000', '101:1000:n01', past(0), past(10), '{"read_bytes": 600, "read": 3}');
    PERFORM act('', 'scratch-OST0000', '101:1000:n01', past(10), past(20), '{"read_bytes": 100, "write_bytes": 100, "write": 2, "read": 1}');
    PERFORM act('', 'scratch-OST0000', ':1000:n02', past(50), past(60), '{"write_bytes": 150, "write": 2}');
    PERFORM act('', 'scratch-OST0000', 'cp', past(50), past(60), '{"write_bytes": 50, "write": 2}');
    PERFORM act('', 'scratch-OST0000', '103:1001:', past(60), past(70), '{"write": 0}');
    PERFORM act('', 'scratch-OST0000', 'dd.1001', past(60), past(70), '{"write_bytes": 50, "write": 2}');
    PERFORM act('', 'scratch-OST0000', '11317854:17627127:r01c01-averyl', past(60), past(70), '{"write_bytes": 150, "write": 2}');
    -- A rename counts once, whatever its kind.
    PERFORM act('', 'scratch-MDT0000', 'mv.1001', past(0), past(10), '{"rename": 3, "samedir_rename": 3}');
    PERFORM act('', 'scratch-MDT0000', '102:1001:n01', past(0), past(10), '{"rename": 9, "crossdir_rename": 9}');
END $$;
UPDATE jobstats.observations SET added = 4, resets = 3, unknown = 2, problems = 1 WHERE "time" IN (past(60), past(70));

SELECT hour(hour), cluster, target, kind, observations, ok, missing_job, truncated, partial, malformed
FROM jobstats.quality ORDER BY 1, 3;
-- An hour ends with its last instant: minute 60 belongs to the first one. A gap belongs to the hour that it ends in.
SELECT hour(hour), target, added, resets, gaps, unknown, problems FROM jobstats.quality ORDER BY 1, 2;
-- The share of bytes and calls whose identifier names no job, no user; NULL without bytes or calls.
SELECT hour(hour), target, bytes_without_job, bytes_without_user, operations_without_job, operations_without_user
FROM jobstats.quality ORDER BY 1, 2;

SELECT target, ok, missing_job, truncated, malformed, bytes_without_job
FROM jobstats.quality WHERE hour >= now() - interval '1 day' AND missing_job > 0;
-- A condition on the hour keeps the others from being read.
SELECT hour(hour), target FROM jobstats.quality WHERE hour > past(0) ORDER BY 1, 2;
-- An hour that rollups know is read from them: not from increments, which are gone for a while, unless something has changed.
CREATE TABLE before AS SELECT * FROM jobstats.quality;
CALL jobstats_maintain();
(TABLE before EXCEPT SELECT * FROM jobstats.quality) UNION ALL (SELECT * FROM jobstats.quality EXCEPT TABLE before);
BEGIN;
DELETE FROM jobstats.increments;
SELECT * FROM before WHERE hour = past(0) EXCEPT SELECT * FROM jobstats.quality;
INSERT INTO jobstats.dirty (target_id, span_from, span_to) SELECT min(target_id), past(59), past(60) FROM jobstats.targets;
SELECT hour(hour), target, observations, ok, missing_job, bytes_without_job FROM jobstats.quality WHERE hour = past(0) ORDER BY 2;
ROLLBACK;
