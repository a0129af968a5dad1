-- jobstats_baseline(): current usage, and the 30 days before.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'

-- Ten minutes of 32 days, 30 of which count.
DO $$ BEGIN
    FOR day IN REVERSE 31..0 LOOP
        PERFORM observe('', 'scratch-MDT0000', 'mds1', ARRAY(SELECT at(m - 1440 * day) FROM unnest('{0,5,10}'::integer[]) AS m));
        -- 1001 opened as many files as days have passed, and 60 today; 1002 opens files on each fourth day.
        PERFORM act('scratch-MDT0000', '101:1001:n01', 5 - 1440 * day, 10 - 1440 * day, jsonb_build_object('open', CASE day WHEN 0 THEN 60 ELSE day END, 'open_usecs', 1000000));
        IF day % 4 = 0 THEN
            PERFORM act('scratch-MDT0000', '102:1002:n02', 5 - 1440 * day, 10 - 1440 * day, '{"open": 600, "open_usecs": 5}');
        END IF;
    END LOOP;
    PERFORM act('scratch-MDT0000', '103:1003:n03', 5, 10, '{"open": 6, "open_usecs": 6}');
    PERFORM act('scratch-MDT0000', '104:1004:n03', 5 - 1440, 10 - 1440, '{"open": 9}');
END $$;
SELECT rank, name, operation, rate * 600 AS calls, lower_quartile * 600 AS lower, median * 600 AS median, upper_quartile * 600 AS upper,
    round(times_usual::numeric, 3) AS times_usual, round(percentile::numeric, 3) AS percentile, days, coverage
FROM jobstats_baseline(at(0), at(10), 'open', 'uid');
-- Times are requests in service. Without a known day the baseline is NULL.
SELECT name, round(rate::numeric, 6) AS rate, round(median::numeric, 6) AS median, days FROM jobstats_baseline(at(0), at(10), filter => 'uid=1001');
SELECT name, operation, rate * 600 AS calls, median, times_usual, percentile, days FROM jobstats_baseline(at(-1440 * 31), at(10 - 1440 * 31), 'open', 'kind,target');
SELECT rank, name FROM jobstats_baseline(at(0), at(10), 'open', n => 1);
SELECT * FROM jobstats_baseline(at(0), at(10), n => -1);
SELECT count(*) FROM jobstats_baseline(at(20), at(30));

-- A target counts for its observed time. Four are read every hour for ten days, three of them until midnight: user 1001, who writes once a
-- second on the first, is at the baseline, and agrees with rates.
DO $$ BEGIN
    FOR ost IN 0..3 LOOP
        PERFORM observe('', 'fs-OST000' || ost, 'oss1', ARRAY(SELECT at(h * 60) FROM generate_series(-248, CASE ost WHEN 0 THEN 2 ELSE -8 END) AS h));
    END LOOP;
    PERFORM act('fs-OST0000', '105:1001:n01', m - 10 - 1440 * day, m - 1440 * day, '{"write": 600}')
        FROM generate_series(0, 10) AS day, generate_series(-230, 120, 10) AS m;
END $$;
SELECT b.name, rate, median, times_usual, percentile, days, coverage
FROM unnest('{uid,target,"uid,target"}'::text[]) AS g (by), jobstats_baseline(at(-240), at(120), 'write', g.by, filter => 'filesystem=fs') b;
SELECT r.name, rate, coverage
FROM unnest('{uid,"uid,target"}'::text[]) AS g (by), jobstats_rates(at(-240), at(120), 'write', g.by, filter => 'filesystem=fs') r;
SELECT rank, name, before, after, change, labels FROM jobstats_changes(at(-240), at(120), 'write', 'uid', filter => 'filesystem=fs');
