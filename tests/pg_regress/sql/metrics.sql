-- jobstats_metrics(): OpenMetrics text of health and rates, without jobs.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'

-- One transaction, so that now() does not move. "ago" is a time that many seconds before it.
BEGIN;
CREATE FUNCTION world.ago(seconds numeric) RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT now() - seconds * interval '1 second' $$;
CREATE VIEW world.lines AS
SELECT n, line FROM regexp_split_to_table(jobstats_metrics(), '\n') WITH ORDINALITY AS l (line, n);
CREATE VIEW world.samples AS
SELECT n, substring(line FROM '^\w+') AS family, coalesce(substring(line FROM '\{.*\}'), '') AS labels,
    substring(line FROM ' (\S+)$')::double precision AS value
FROM lines WHERE line ~ '^[^#]';

-- A store without targets: metadata, and zero rejects.
SELECT line FROM lines ORDER BY n;

DO $$ BEGIN
    PERFORM observe('', 'scratch-MDT0000', 'mds1', ARRAY[ago(420), ago(300), ago(180), ago(60)]);
    PERFORM observe('', 'scratch-OST0000', 'oss1', ARRAY[ago(290), ago(170), ago(50)]);
    -- Idle, silent, and observed for the first time.
    PERFORM observe('', 'scratch-OST0001', 'oss1', ARRAY[ago(290), ago(170), ago(50)]);
    PERFORM observe('', 'scratch-OST0002', 'oss2', ARRAY[ago(8000), ago(7000)]);
    PERFORM observe('', 'scratch-OST0003', 'oss2', ARRAY[ago(40)]);
    -- After a gap.
    PERFORM observe('', 'scratch-OST0004', 'oss3', ARRAY[ago(3900), ago(3780), ago(3660), ago(30)]);
    PERFORM observe('', 'scratch-OST0005', 'oss3', ARRAY[ago(3780), ago(3660), ago(3540), ago(30)]);
    -- Before the last observation.
    PERFORM act('', 'scratch-MDT0000', '101:1000:n01', ago(300), ago(180), '{"open": 99999, "open_usecs": 99999999}');
    PERFORM act('', 'scratch-MDT0000', '101:1000:n01', ago(180), ago(60), '{"open": 1200, "open_usecs": 60000000, "close": 2400, "close_usecs": 12000000}');
    PERFORM act('', 'scratch-MDT0000', '102:1001:n02', ago(180), ago(60), '{"open": 120, "open_usecs": 12000000}');
    PERFORM act('', 'scratch-MDT0000', 'mv.1001', ago(180), ago(60), '{"rename": 12, "rename_usecs": 120000, "samedir_rename": 12, "samedir_rename_usecs": 120000}');
    -- As before Lustre 2.14: no times.
    PERFORM act('', 'scratch-OST0000', '101:1000:n01', ago(170), ago(50), '{"write_bytes": 491520, "write": 120, "read": 30}');
    PERFORM act('', 'scratch-OST0002', '101:1000:n01', ago(8000), ago(7000), '{"write_bytes": 491520, "write": 120}');
END $$;
INSERT INTO jobstats.rejects ("time", received, cluster, server, target, line, reason, text) VALUES
    (ago(9999), ago(3500), '', 'oss1', 'scratch-OST0001', 3, 'unclosed', 'read_bytes: {'),
    (ago(60), ago(60), '', 'oss1', 'scratch-OST0001', 3, 'unclosed', 'read_bytes: {'),
    (ago(3700), ago(3700), '', 'oss1', 'scratch-OST0001', 3, 'unclosed', 'read_bytes: {'),
    (ago(60), ago(60), '', 'oss1', NULL, NULL, 'no target', 'job_stats:'),
    (ago(60), ago(60), 'unheard of', 'oss1', 'x-OST0000', 1, 'clock', '');
UPDATE jobstats.targets t SET observations_total = 3, text_bytes_total = 5000, problems_total = 7 WHERE t.name = 'scratch-OST0001';
UPDATE jobstats.observations o SET received = o."time" + interval '1.5 seconds' FROM jobstats.targets t
WHERE t.target_id = o.target_id AND t.name = 'scratch-MDT0000';

-- The states of each target are 1, the others are there as 0.
SELECT labels, value FROM samples WHERE family = 'jobstats_target_state' AND (value > 0 OR labels LIKE '%MDT0000%') ORDER BY n;
SELECT labels, value = extract(epoch FROM ago(60)) AS same FROM samples
WHERE family = 'jobstats_target_last_observation_timestamp_seconds' AND labels LIKE '%MDT0000%';
SELECT family, labels, value FROM samples
WHERE family ~ '_(delay|interval)_seconds$' OR family ~ '(rejects|problems_total)$' ORDER BY n;

-- The last observation per second; zero for operations that targets of the kind report. A silent target has no rates, nor has a target that
-- was observed once, or not for an hour before. Service time is unknown without reported times, and zero when idle.
SELECT family, labels, value FROM samples
WHERE family ~ '(per_second|in_service)$' AND (value > 0 OR labels !~ 'operation=') ORDER BY n;
SELECT substring(labels FROM 'target="([^"]+)"') AS target, family, count(*), count(*) FILTER (WHERE value = 0) AS zero
FROM samples WHERE family ~ '(per_second|in_service)$' GROUP BY 1, 2 ORDER BY 1, 2;
SELECT (SELECT count(*) FROM jobstats_operations() WHERE mdt AND kind = 'requests') AS mdt_calls,
    (SELECT count(*) FROM jobstats_operations() WHERE ost AND kind = 'requests') AS ost_calls;

SELECT line FROM regexp_split_to_table(jobstats_metrics(), '\n') line WHERE line ~ 'metadata|in_service';

-- A row that began before the last observation: the part that lies in it.
DO $$ BEGIN
    PERFORM act('', 'scratch-OST0001', '102:1002:n01', ago(290), ago(50), '{"read": 240, "read_usecs": 2400000}');
END $$;
UPDATE jobstats.increments i SET observed = ago(50) FROM jobstats.targets t
WHERE t.target_id = i.target_id AND t.name = 'scratch-OST0001';
SELECT family, labels, value FROM samples WHERE labels LIKE '%OST0001%' AND value > 0 AND family ~ '(per_second|in_service)$' ORDER BY n;

-- Additional parameters of the last hour, of targets that are not retired and of servers; unknown names are left out.
INSERT INTO jobstats.sample_series (cluster, server, target_id, name, labels, since, "time", value)
SELECT '', s.server, t.target_id, s.name, s.labels, ago(s.ago), ago(s.ago), s.value
FROM (VALUES ('oss1', 'scratch-OST0000', 'kbytestotal', jsonb '{}', 60, 1000), ('oss1', 'scratch-OST0000', 'kbytesavail', '{}', 60, 40),
    ('oss1', 'scratch-OST0000', 'kbytesfree', '{}', 60, 50), ('oss1', 'scratch-OST0000', 'recovering', '{}', 60, 1), ('oss1', 'scratch-OST0001', 'kbytestotal', '{}', 3700, 1),
    ('oss1', NULL, 'unhealthy', '{}', 60, 2), ('oss1', NULL, 'anything', '{}', 60, 2), ('mds1', 'scratch-MDT0000', 'changelog_idle', '{"reader": "cl\"1"}', 60, 5),
    ('mds1', 'scratch-MDT0000', 'changelog_behind', '{"reader": "cl2"}', 60, 9),
    ('mds1', 'scratch-MDT0000', 'filestotal', '{}', 60, 100), ('mds1', 'scratch-MDT0000', 'filesfree', '{}', 60, 1),
    ('mds1', NULL, 'requests_queued', '{"service": "mdt", "policy": "tbf"}', 60, 3), ('mds1', NULL, 'tbf_rate', '{"service": "mdt", "rule": "slow"}', 60, 100)) AS s (server, target, name, labels, ago, value)
LEFT JOIN jobstats.targets t ON t.name = s.target;
INSERT INTO jobstats.server_increments ("time", since, requests, wait_usecs, depth, active, cluster, server, service) VALUES
    (ago(900), ago(1200), 1, 1000000000, 0, 0, '', 'mds1', 'mdt'), (ago(540), ago(900), 3600, 7000000, 0, 0, '', 'mds1', 'mdt'),
    (ago(300), ago(540), 2400, 5000000, 0, 0, '', 'mds1', 'mdt'), (ago(300), ago(600), 0, 0, 0, 0, '', 'mds1', 'mdt_readpage');
SELECT family, labels, value FROM samples
WHERE family ~ '^jobstats_(target_(size|available|free|inodes|recovering)|server|changelog|policy|rule|service)_?' ORDER BY n;

-- By the specification of OpenMetrics: metadata before samples, families in one piece, names that end in their unit, no sample twice, only
-- these lines, EOF at the end. Names may contain any character.
DO $$ BEGIN
    PERFORM observe(E'a "b" \\ {c},\nd=é', 'we-ird-OST0000', 'oss9', ARRAY[ago(170), ago(50)]);
END $$;
SELECT labels FROM samples WHERE family = 'jobstats_target_delay_seconds' AND labels LIKE '%ird%';
SELECT line FROM lines
WHERE line !~ '^# (TYPE [a-z_]+ (gauge|counter)|UNIT [a-z_]+ [a-z_]+|HELP [a-z_]+ [^\\"]+|EOF)$'
    AND line !~ '^[a-z_]+(\{[a-z]+="([^"\\]|\\[\\"n])+"(,[a-z]+="([^"\\]|\\[\\"n])+")*\})? [0-9]+(\.[0-9]+)?$';
WITH families AS (
    SELECT n, coalesce(substring(line FROM '^# (?:TYPE|UNIT|HELP) (\w+)'), substring(line FROM '^\w+')) AS family,
        coalesce(substring(line FROM '^# (\w+)'), 'sample') AS what, line
    FROM (SELECT n, regexp_replace(line, '^(\w+)_total\M', '\1') AS line FROM lines) l WHERE line <> '# EOF'
)
SELECT family, string_agg(what, ' ' ORDER BY n) !~ '^TYPE (UNIT )?HELP( sample)*$' AS order_wrong,
    max(n) - min(n) + 1 <> count(*) AS scattered, count(DISTINCT CASE what WHEN 'sample' THEN regexp_replace(line, ' \S+$', '') ELSE line END) <> count(*) AS twice,
    bool_or(what = 'UNIT' AND line !~ '^# UNIT \w+_(\w+) \1$') AS unit_wrong
FROM families GROUP BY family ORDER BY min(n);
-- Samples of counters, and no others, have names that end in _total.
SELECT DISTINCT s.family FROM samples s
WHERE s.family LIKE '%\_total' IS DISTINCT FROM EXISTS (
    SELECT FROM lines l WHERE l.line = format('# TYPE %s counter', regexp_replace(s.family, '_total$', '')));
SELECT right(m, 6) = E'\n# EOF' AS ends, strpos(m, '# EOF') = length(m) - 4 AS once, m ~ '="[^"]*(101|102|n01|mv)[^"]*"' AS names_jobs
FROM jobstats_metrics() m;

-- When the store was maintained, and how far rollups stay behind.
SELECT family, value FROM samples WHERE family ~ '^jobstats_(maintenance|rollup)_' ORDER BY n;
INSERT INTO jobstats.maintenance (step, began, took, affected, problem) VALUES
    ('all', ago(1000), '2 seconds', 0, 'partitions of raw: it is in use'), ('all', ago(400), '100 seconds', 0, NULL), ('refresh', ago(300), '1 second', 0, 'no');
UPDATE jobstats.rollups SET refreshed = ago(1200) WHERE level <> '1d';
SELECT family, labels, CASE WHEN family ~ 'timestamp' THEN round((extract(epoch FROM now()) - value)::numeric) ELSE value END AS value
FROM samples WHERE family ~ '^jobstats_(maintenance|rollup)_' ORDER BY n;
INSERT INTO jobstats.maintenance (step, began, took, affected, problem) VALUES ('all', ago(100), '1 second', 0, 'partitions of raw: it is in use');
SELECT value FROM samples WHERE family = 'jobstats_maintenance_problem';

-- The alert rules name metrics, statuses and levels that there are.
UPDATE jobstats.rollups SET refreshed = ago(1200);
\set rules `cat "$PG_ABS_SRCDIR/../../packaging/jobstats.rules.yml"`
CREATE VIEW world.expressions AS
SELECT line FROM regexp_split_to_table(:'rules', '\n') line WHERE line !~ '^#|(alert|summary|description):';
SELECT count(DISTINCT name) AS metrics, array_agg(DISTINCT name) FILTER (WHERE name NOT IN (SELECT family FROM samples)) AS unknown
FROM world.expressions e, regexp_matches(e.line, '\mjobstats_\w+', 'g') m (names), LATERAL (SELECT names[1]) n (name);
SELECT label, array_agg(DISTINCT v) AS values,
    array_agg(DISTINCT v) FILTER (WHERE NOT EXISTS (SELECT FROM samples s WHERE strpos(s.labels, format('%s="%s"', label, v)) > 0)) AS unknown
FROM world.expressions e, regexp_matches(e.line, '(\w+)=~?"([^"]+)"', 'g') m (matched), LATERAL (SELECT matched[1]) l (label),
    regexp_split_to_table(matched[2], '\|') v
GROUP BY label ORDER BY label;

-- For readers only, read-only and without a transaction id.
CREATE ROLE regress_jobstats_metrics;
SELECT jobstats_grant_reader('regress_jobstats_metrics');
GRANT USAGE ON SCHEMA world TO regress_jobstats_metrics;
COMMIT;
BEGIN READ ONLY;
SET LOCAL ROLE regress_jobstats_metrics;
SELECT jobstats_metrics() LIKE '%scratch-MDT0000%' AS seen, pg_current_xact_id_if_assigned();
ROLLBACK;
REVOKE SELECT ON jobstats.targets FROM regress_jobstats_metrics;
SET ROLE regress_jobstats_metrics;
SELECT jobstats_metrics();
RESET ROLE;

-- Feeds count the rows that they store, also late ones; repeated texts count once. Retention does not decrease the counters.
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('oss7', now() - interval '20 minutes', E'obdfilter.counted-OST0000.job_stats=\njob_stats:\n- job_id: 1\n  snapshot_time: 1\n  write: { samples: 1, unit: reqs }\n'),
    ('oss7', now() - interval '10 minutes', E'obdfilter.counted-OST0000.job_stats=\njob_stats:\n- job_id: 1\n  snapshot_time: 2\n  write: { samples: x, unit: reqs }\n'),
    ('oss7', now() - interval '15 minutes', E'obdfilter.counted-OST0000.job_stats=\njob_stats:\n');
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss7', o."time", E'obdfilter.counted-OST0000.job_stats=\njob_stats:\n' FROM jobstats.observations o
JOIN jobstats.targets t ON t.target_id = o.target_id AND t.name = 'counted-OST0000'
ORDER BY o."time" OFFSET 1 LIMIT 1;
SELECT family, value FROM world.samples WHERE family ~ '_total$' AND labels LIKE '%counted%' ORDER BY n;
DELETE FROM jobstats.observations;
DELETE FROM jobstats.raw;
SELECT observations_total, text_bytes_total, problems_total FROM jobstats.targets WHERE name = 'counted-OST0000';

SET client_min_messages = warning;
DROP OWNED BY regress_jobstats_metrics;
DROP ROLE regress_jobstats_metrics;
DROP SCHEMA jobstats CASCADE;
SELECT jobstats_metrics();
