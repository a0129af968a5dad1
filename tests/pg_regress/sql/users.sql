-- Questions about users are read from rollups by target and user.
\i store.sql
\set ECHO all
SELECT jobstats_setup(raw_retention => '100 years', retention => '100 years') IS NOT NULL AS ready;

-- Two targets that are read every 33 minutes for three days; three users, two of them with two programs each.
CREATE FUNCTION feed(target text, "time" timestamptz) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', feed."time", ost(target, record('a.1', seconds, seconds * 4096), record('b.1', seconds / 1000, seconds),
    record('c.2', seconds / 7, seconds * 13), record('a.2', seconds / 3, seconds * 7), record('d.3', seconds, seconds),
    record('nobody', seconds, seconds * 2))
FROM (SELECT extract(epoch FROM feed."time" - '2025-10-20')::bigint) s (seconds)
$$;
SELECT count(*)
FROM unnest(ARRAY['fs-OST0000', 'fs-OST0001']) target, generate_series(timestamptz '2025-10-24 00:07', '2025-10-27 12:00', interval '33 minutes') t,
    feed(target, t);

-- And an MDT, which reports times.
SELECT count(f)
FROM generate_series(timestamptz '2025-10-24 00:05', '2025-10-26 12:00', interval '51 minutes') t
CROSS JOIN LATERAL (SELECT extract(epoch FROM t - '2025-10-20')::bigint) s (seconds)
CROSS JOIN LATERAL jobstats_ingest('', 'mds1', t, mdt('fs-MDT0000',
    life('a.1', '2025-10-20', seconds, seconds * 30, seconds / 2), life('b.1', '2025-10-20', seconds / 3, seconds * 31),
    life('c.2', '2025-10-20', seconds * 2, seconds * 3))) f;

CREATE VIEW answers AS
SELECT q.since, q.until, q.step, a.function, a.answer
FROM (VALUES (timestamptz '2025-10-24', timestamptz '2025-10-28', NULL::interval), ('2025-10-24', '2025-10-28', '1 day'),
    ('2025-10-25', '2025-10-26', '1 hour'), ('2025-10-25', '2025-10-25 12:00', '10 minutes'), ('2025-10-24 12:34:56', '2025-10-26 07:08:09', NULL)
) AS q (since, until, step)
CROSS JOIN LATERAL (
    SELECT 'users', to_jsonb(r) FROM jobstats_rates(q.since, q.until, 'write,write_bytes', 'uid', q.step) r
    UNION ALL
    SELECT 'a user', to_jsonb(r) FROM jobstats_rates(q.since, q.until, 'write_bytes', 'target', q.step, filter => 'uid=2') r
    UNION ALL
    SELECT 'targets', to_jsonb(r) FROM jobstats_totals(q.since, q.until) r
    UNION ALL
    SELECT 'top', to_jsonb(r) FROM jobstats_top(q.since, q.until, 'write', 'uid') r
    UNION ALL
    SELECT 'densities', to_jsonb(r) FROM jobstats_densities(q.since, q.until, 'write_bytes', 'uid', step => q.step) r
    UNION ALL
    SELECT 'programs', to_jsonb(r) FROM jobstats_top(q.since, q.until, 'write', 'executable') r
    UNION ALL
    SELECT 'programs of a user', to_jsonb(r) FROM jobstats_totals(q.since, q.until, 'write', 'executable', filter => 'uid=2') r
    UNION ALL
    SELECT 'a program', to_jsonb(r) FROM jobstats_totals(q.since, q.until, 'write', 'uid', filter => 'workload=a.*') r
    UNION ALL
    SELECT 'metadata', to_jsonb(r) FROM jobstats_rates(q.since, q.until, 'metadata,service_time', 'target,uid', q.step) r
    UNION ALL
    SELECT 'summary', to_jsonb(r) FROM jobstats_summary(q.since, q.until, 'uid') r
) AS a (function, answer);
SET client_min_messages = warning;
CREATE TABLE before AS TABLE answers;
CREATE VIEW changed AS (TABLE before EXCEPT ALL TABLE answers) UNION ALL (TABLE answers EXCEPT ALL TABLE before);
SELECT function, count(*) FROM before GROUP BY function ORDER BY function;
CALL jobstats_maintain();
TABLE changed;
-- They are read for some users, and hold three users and unknown ones, a row each per day and target.
SELECT count(*) AS entries FROM jobstats.rollup_1d;
SELECT count(*) AS users FROM jobstats.rollup_1d_users;
BEGIN;
UPDATE jobstats.rollup_1d_users SET write = 0, write_bytes = 0, service_usecs = 0, metadata = 0;
UPDATE jobstats.rollup_1h_users SET write = 0, write_bytes = 0, service_usecs = 0, metadata = 0;
UPDATE jobstats.rollup_10m_users SET write = 0, write_bytes = 0, service_usecs = 0, metadata = 0;
SELECT DISTINCT function FROM changed ORDER BY 1;
ROLLBACK;

-- Late text is shown at once, and summed later.
DELETE FROM before;
SELECT count(*) FROM feed('fs-OST0001', '2025-10-25 03:05');
INSERT INTO before TABLE answers;
SELECT level, users_refreshed = refreshed AS current FROM jobstats.rollups ORDER BY width;
CALL jobstats_maintain();
TABLE changed;

-- Identifiers mean something else: of programs and process numbers no user is known. So it is before they are summed anew,
-- and afterwards.
UPDATE jobstats.entry_formats SET format = '%e.%p' WHERE format = '%e.%u';
SELECT jobstats_reidentify();
DELETE FROM before;
INSERT INTO before TABLE answers;
SELECT level, users_refreshed FROM jobstats.rollups ORDER BY width;
SELECT answer -> 'labels' -> 'uid' AS uid, count(*) FROM before WHERE function = 'users' AND step IS NULL GROUP BY 1;
CALL jobstats_maintain();
SELECT level, users_refreshed = refreshed AS current FROM jobstats.rollups ORDER BY width;
TABLE changed;
SELECT count(*) AS users FROM jobstats.rollup_1d_users;
