-- jobstats_changes(): who made the difference between two windows.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'

-- Ten minutes of seven days. On the sixth day half of the window was observed, on the seventh none of it.
DO $$ BEGIN
    FOR day IN REVERSE 6..0 LOOP
        PERFORM observe('', 'scratch-MDT0000', 'mds1', ARRAY(SELECT at(m - 1440 * day) FROM unnest('{0,5,10}'::integer[]) AS m WHERE day <> 6 OR m > 0));
    END LOOP;
    PERFORM act('scratch-MDT0000', '101:1000:n01', 5 - 1440 * 6, 10 - 1440 * 6, '{"open": 1, "open_usecs": 1}');
    FOR day IN 0..5 LOOP
        PERFORM act('scratch-MDT0000', '101:1000:n01', 0 - 1440 * day, 5 - 1440 * day, jsonb_build_object('open', 100 + day, 'open_usecs', 1000001 * (day + 1)));
        PERFORM act('scratch-MDT0000', 'rsync.1001', 0 - 1440 * day, 5 - 1440 * day, '{"getattr": 70, "getattr_usecs": 500000}');
    END LOOP;
    PERFORM act('scratch-MDT0000', '102:1002:n02', -1440, -1435, '{"open": 7, "open_usecs": 7000000}');
    PERFORM act('scratch-MDT0000', '103:1003:n03', 0, 5, '{"open": 9000, "open_usecs": 90000000}');
    PERFORM act('scratch-MDT0000', '104:1004:n03', 0, 5, '{"open": 10, "open_usecs": 10}');
END $$;
CREATE FUNCTION changes(operation text DEFAULT 'service_time', n integer DEFAULT 10, baseline_since timestamptz DEFAULT NULL, baseline_until timestamptz DEFAULT NULL)
RETURNS TABLE (rank bigint, name text, operation text, before numeric, after numeric, change numeric, share double precision, of_rise double precision, others text,
    days bigint, coverage double precision)
LANGUAGE sql AS $$
SELECT c.rank, c.name, c.operation, c.before, c.after, c.change, c.share, c.share_of_rise, c.labels ->> 'others', c.days, c.coverage
FROM jobstats_changes(at(0), at(10), $1, 'uid', $3, $4, $2) c
$$;

-- The mean of the five days that were observed, rounded to microseconds; user 1001 did not change.
SELECT * FROM changes();
SELECT * FROM changes('open', 1);
-- Against a window that is named, also one of another length.
SELECT * FROM changes('open', 9, at(-1440), at(-1430));
SELECT * FROM changes('open', 1, at(-2880), at(-1430));
-- Without a net change there are no shares.
SELECT c.* FROM changes('getattr', 1, at(-1440), at(-1430)) c;

-- By whatever dimension, and with whatever is left out, all rows add up to the difference of the totals.
SELECT count(*) AS dimensions, bool_and(c.change = t.change AND c.before = t.before) AS add_up
FROM jobstats_internal.dimensions() d
CROSS JOIN LATERAL (
    SELECT sum(c.change) AS change, sum(c.before) AS before
    FROM jobstats_changes(at(0), at(10), 'service_time', d.name, at(-1440), at(-1430), 2, exclude => '{"uid": [1001]}') c) c
CROSS JOIN LATERAL (
    SELECT sum(t.total * t.sign) AS change, sum(t.total) FILTER (WHERE t.sign < 0) AS before
    FROM (
        SELECT t.total, 1 AS sign FROM jobstats_totals(at(0), at(10), 'service_time', d.name, exclude => '{"uid": [1001]}') t
        UNION ALL
        SELECT t.total, -1 FROM jobstats_totals(at(-1440), at(-1430), 'service_time', d.name, exclude => '{"uid": [1001]}') t) t) t;

-- Days without coverage, half a baseline, and what else is wrong.
SELECT * FROM jobstats_changes(at(-1440 * 6), at(10 - 1440 * 6));
SELECT * FROM jobstats_changes(at(0), at(10), baseline_since => at(-10));
SELECT * FROM jobstats_changes(at(0), at(10), baseline_since => at(0), baseline_until => at(0));
SELECT * FROM jobstats_changes(at(0), at(10), n => -1);
