-- jobstats_targets(), jobstats_internal.work() and jobstats_internal.kept(): for programs that show every entry.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
SET jit = off;
SELECT jobstats_setup(retention => '100 years', compress_after => '100 years') IS NOT NULL AS ready;
SELECT since, first, complete, targets FROM jobstats_internal.kept();

DO $$ BEGIN
    PERFORM observe('scratch-MDT0000', 'mds1', 0, 5, 10, 15, 25);
    PERFORM observe('scratch-OST0000', 'oss1', 1, 11, 200);
    PERFORM observe('home-OST0000', 'oss2', 3);
    PERFORM act('scratch-MDT0000', '1:1000:n01', 0, 5, '{"open": 1, "open_usecs": 10}');
    PERFORM act('scratch-MDT0000', '1:1000:n01', 15, 20, '{"open": 2, "open_usecs": 20}');
    PERFORM act('scratch-MDT0000', '1:1000:n01', 20, 25, '{"open": 4, "open_usecs": 40}');
    PERFORM act('scratch-MDT0000', '2:1001:n02', 20, 25, '{"getattr": 8}');
    PERFORM act('scratch-OST0000', '1:1000:n01', 11, 20, '{"write": 16, "write_bytes": 1600}');
    PERFORM act('scratch-OST0000', '1:1000:n01', 190, 200, '{"write": 32, "write_bytes": 3200}');
END $$;
UPDATE jobstats.targets SET cluster = 'other' WHERE name LIKE 'home%';

-- The last observation of each target up to a time. A first one has no predecessor, and one of hours its last hour.
SELECT cluster, filesystem, kind, target, server, since, "time", usual_interval, entries, problems, added, resets, removed
FROM jobstats_targets(at(200)) ORDER BY target;
SELECT target, since, "time", usual_interval FROM jobstats_targets(at(24.999)) ORDER BY target;
SELECT target, "time" FROM jobstats_targets(at(0.5)) ORDER BY target;
SELECT target, "time" FROM jobstats_targets(at(3000)) ORDER BY target;
SELECT target, "time" FROM jobstats_targets() ORDER BY target;
SELECT target FROM jobstats_targets(at(25)) WHERE cluster = 'other';
SELECT jobstats_alter_target('scratch-MDT0000', retired => true) IS NOT NULL AS retired;
SELECT at, target, "time" FROM unnest(ARRAY[at(25), at(26)]) at, jobstats_targets(at) WHERE target = 'scratch-MDT0000' ORDER BY at;
UPDATE jobstats.targets SET retired = NULL;

-- The work of these observations, in the order of jobstats_operations().
CREATE FUNCTION work(at timestamptz, level text DEFAULT 'increments', targets integer[] DEFAULT NULL) RETURNS TABLE (
    target text, entry text, operation text, total bigint, usecs bigint
) LANGUAGE sql AS $$
SELECT t.target, e.entry, o.operation, w.totals[o.number], w.usecs[o.number]
FROM jobstats_internal.work(at, level, targets) w
JOIN jobstats_targets() t ON t.target_id = w.target_id
JOIN jobstats_internal.entries(at) e ON e.entry_id = w.entry_id
CROSS JOIN jobstats_operations() WITH ORDINALITY o (operation, kind, unit, mdt, ost, metadata, service_time, doubles, system_calls, meaning, since, number)
WHERE w.totals[o.number] IS NOT NULL
ORDER BY 1, 2, 3, 4
$$;
SELECT * FROM work(at(200));
SELECT * FROM work(at(199));
SELECT * FROM work(at(5), targets => ARRAY(SELECT target_id FROM jobstats_targets() WHERE kind = 'MDT'));
SELECT count(*) FROM jobstats_internal.work(at(5), target_id => '{}');
SELECT count(*) FROM jobstats_internal.work();
SELECT DISTINCT cardinality(totals) = o.operations, cardinality(usecs) = o.operations
FROM jobstats_internal.work(at(200)), (SELECT count(*) AS operations FROM jobstats_operations()) o;
-- A bucket includes its end, and not its start.
SELECT * FROM work(at(20), '10m');
SELECT * FROM work(at(20) + interval '1 microsecond', '10m');
SELECT * FROM work(at(60), '1h');
SELECT * FROM work(at(60), '1d');
CALL jobstats_maintain();
SELECT * FROM work(at(20), '10m');

-- The retained times, and the observations around a time.
SELECT now = now() AS is_now, since, first, complete, targets FROM jobstats_internal.kept();
SELECT level, first, targets FROM unnest('{NULL,increments,10m,1h,1d}'::text[]) level, jobstats_internal.kept(level, filesystem => '{scratch}');
SELECT first, targets FROM jobstats_internal.kept(cluster => '{other}');
SELECT first, targets FROM jobstats_internal.kept(cluster => '{none}');
DO $$ BEGIN PERFORM observe('', 'scratch-MDT0000', 'mds1', ARRAY[now() - interval '3 minutes', now() - interval '2 minutes']); END $$;
SELECT now - complete < interval '1 hour' AS is_recent FROM jobstats_internal.kept();
SELECT target, before, after FROM jobstats_targets(at(11)) ORDER BY target;
SELECT max(before) AS before, min(after) AS after FROM jobstats_targets(at(0) - interval '1 second');
SELECT target, before > at(200) AS is_recent, after FROM jobstats_targets() ORDER BY target;

SELECT * FROM jobstats_internal.work(at(5), '5m');
SELECT * FROM jobstats_internal.work('infinity');
SELECT * FROM jobstats_internal.kept('5m');
SET client_min_messages = warning;
DROP SCHEMA jobstats CASCADE;
SELECT * FROM jobstats_internal.work();
SELECT * FROM jobstats_internal.kept();
\set VERBOSITY sqlstate
SELECT * FROM jobstats_targets();
SELECT * FROM jobstats_internal.entries();
