-- A window that reaches now does not wait for targets that are late or read seldom: these lower the coverage, and are named if they were not observed in it.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'

-- One transaction, so that now() does not move. "ago" is a time that many seconds before it.
BEGIN;
CREATE FUNCTION world.ago(seconds numeric) RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT now() - seconds * interval '1 second' $$;
-- Observations every interval, the last one that many seconds ago.
CREATE FUNCTION world.observe_until(cluster text, target text, last numeric, step numeric) RETURNS void LANGUAGE sql AS $$
SELECT observe(cluster, target, 'oss1', ARRAY(SELECT ago(last + n * step) FROM generate_series(0, 11) AS n))
$$;
-- 28 targets are read every two minutes. One of them was last read eight minutes ago, and nobody's identifiers match a format.
DO $$ BEGIN
    PERFORM observe_until('', 'scratch-OST' || lpad(to_hex(n), 4, '0'), CASE n WHEN 3 THEN 480 ELSE 20 + n END, 120)
        FROM generate_series(0, 27) AS n;
    PERFORM act('', t.name, 'no format ' || t.target_id, max(o."time") - interval '2 minutes', max(o."time"),
            '{"write": 12, "write_bytes": 1200, "write_usecs": 6000000}')
        FROM jobstats.targets t JOIN jobstats.observations o USING (target_id) GROUP BY t.name, t.target_id;
END $$;
SELECT states, count(*) FROM jobstats.health GROUP BY states ORDER BY states;
-- The window ends where the others were observed, 47 seconds ago.
SELECT seconds, coverage = trunc((27 * 553 + 120) / (28 * 553.0), 4) AS covered, coverage, operation
FROM jobstats_rates(operations => 'write_bytes', by => '');
SELECT name, seconds, coverage FROM jobstats_rates(operations => 'write_bytes', filter => 'target=scratch-OST000*') WHERE coverage < 1;
SELECT count(*) AS rows, sum(total) AS seconds FROM jobstats_top(by => 'target,workload', n => 100);
SELECT count(*) AS rows FROM jobstats_balance(operation => 'write_bytes');
-- It may have been observed last before the window.
SELECT seconds, count(*), count(rate) AS known FROM jobstats_rates(now() - interval '5 minutes', operations => 'write_bytes') GROUP BY seconds;
-- A question for this target alone ends where it was observed.
SELECT seconds, name, coverage FROM jobstats_rates(operations => 'write_bytes', filter => 'target=scratch-OST0003');
SELECT count(*) FROM jobstats_rates(now() - interval '5 minutes', operations => 'write_bytes', filter => 'target=scratch-OST0003');
-- Where the filters leave it out, no target is behind.
SELECT seconds, coverage FROM jobstats_rates(operations => 'write_bytes', by => '', filter => 'target=scratch-OST001*');
-- A window that does not reach now is unchanged, without a notice.
SELECT seconds, coverage < 1 AS partial FROM jobstats_rates(until => now() - interval '1 minute', operations => 'write_bytes', by => '');

-- A target that is read every 15 minutes counts for its observed time. It is named only if it was last read before the window.
DO $$ BEGIN PERFORM observe_until('west', 'home-OST0000', 480, 900); PERFORM observe_until('west', 'home-OST0001', 30, 120); END $$;
SELECT seconds, name, coverage FROM jobstats_rates(operations => 'write_bytes', filter => 'filesystem=home');
DO $$ BEGIN PERFORM delay('home-OST0000', '4 minutes'); END $$;
SELECT target, states FROM jobstats.health WHERE cluster = 'west' ORDER BY target;
SELECT seconds, name, coverage FROM jobstats_rates(operations => 'write_bytes', filter => 'filesystem=home');
SELECT seconds, name, coverage FROM jobstats_rates(now() - interval '1 hour', operations => 'write_bytes', filter => 'filesystem=home');

-- A target is read every minute, and another one every 15 minutes: all that the first wrote counts. So it does where a new target has one text.
DO $$ BEGIN
    PERFORM observe_until('', 'work-OST0000', 10, 60);
    PERFORM act('', 'work-OST0000', '1:1000:n1', ago(n * 60 + 70), ago(n * 60 + 10), '{"write": 1, "write_bytes": 4096}') FROM generate_series(0, 8) AS n;
    PERFORM observe_until('', 'work-OST0001', 540, 900);
    PERFORM act('', 'work-OST0001', '1:1000:n1', ago(590), ago(540), '{"write": 1, "write_bytes": 1000}');
END $$;
CREATE VIEW leaders AS SELECT name, total, coverage FROM jobstats_top(operation => 'write_bytes', by => 'target', filter => 'filesystem=work');
TABLE leaders;
DO $$ BEGIN PERFORM observe('', 'work-OST0002', 'oss1', ARRAY[ago(590)]); END $$;
TABLE leaders;
-- Nor can the writer of one server hold up the others, however many targets it feeds, and however seldom.
DO $$ BEGIN
    PERFORM observe('', 'work-OST00' || n, 'mine', ARRAY[ago(590 + 1000), ago(590)]) FROM generate_series(10, 29) AS n;
    PERFORM observe('', 'work-OST0030', 'oss2', ARRAY[ago(80), ago(20)]);
END $$;
SELECT * FROM leaders WHERE total > 0;
-- What cuts a window by more than the usual interval is named.
DO $$ BEGIN PERFORM observe_until('', 'more-OST000' || n, CASE n WHEN 0 THEN 215 ELSE 40 END, CASE n WHEN 0 THEN 240 ELSE 120 END) FROM generate_series(0, 2) AS n; END $$;
SELECT DISTINCT seconds, coverage FROM jobstats_rates(operations => 'write_bytes', filter => 'filesystem=more');

-- Five are named, those furthest behind.
DO $$ BEGIN PERFORM delay('scratch-OST000' || n, n * interval '20 minutes') FROM generate_series(4, 9) AS n; END $$;
SELECT seconds FROM jobstats_rates(operations => 'write_bytes', by => '', filter => 'filesystem=scratch');
-- Where all are late, the window ends at the last observation of any, and is not cut by more than four intervals.
SELECT seconds FROM jobstats_rates(now() - interval '3 hours', operations => 'write_bytes', by => '', filter => 'target=scratch-OST0003,scratch-OST0004');
-- The same where all are silent. Where all were silent before the window began, the requested window stays.
SELECT seconds, coverage FROM jobstats_rates(now() - interval '3 hours', operations => 'write_bytes', by => '', filter => 'target=scratch-OST0004');
SELECT seconds, coverage FROM jobstats_rates(operations => 'write_bytes', by => '', filter => 'target=scratch-OST0004');

-- The notice that servers report no times appears only for calls without times.
DO $$ BEGIN
    PERFORM observe_until('', 'old-OST0000', 60, 120);
    PERFORM act('', 'old-OST0000', 'cp.1', ago(300), ago(180), '{"read_bytes": 4096}');
END $$;
SELECT count(*) FROM jobstats_top(filter => 'filesystem=old');
SELECT count(*) FROM jobstats_rates(operations => 'service_time', filter => 'filesystem=old');
DO $$ BEGIN PERFORM act('', 'old-OST0000', 'cp.2', ago(180), ago(60), '{"read": 1, "read_bytes": 4096}'); END $$;
SELECT count(*) FROM jobstats_top(filter => 'filesystem=old');
ROLLBACK;
