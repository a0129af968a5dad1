-- Missing readings between observations: the view health counts the last hour, the view quality each hour.
\i reading.sql
\set ECHO all
\pset null '(null)'

-- One transaction, so that now() does not move. "ago" is a time that many minutes before it.
BEGIN;
CREATE FUNCTION world.ago(minutes numeric) RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT now() - minutes * interval '1 minute' $$;
CREATE FUNCTION world.observe_ago(target text, VARIADIC minutes numeric[]) RETURNS void LANGUAGE sql AS $$
SELECT observe('', target, 'oss1', ARRAY(SELECT ago(minute) FROM unnest(minutes) AS minute ORDER BY minute DESC))
$$;
CREATE FUNCTION world.every(step numeric, first numeric, last numeric, VARIADIC lost numeric[] DEFAULT '{}') RETURNS numeric[] LANGUAGE sql AS $$
SELECT array_agg(minute) FROM generate_series(first, last, step) AS minute WHERE minute <> ALL (lost)
$$;
DO $$ BEGIN
    -- Every third reading is lost: 60 of 180 within three hours, 20 of 60 within one.
    PERFORM observe_ago('scratch-OST0000', VARIADIC (SELECT array_agg(minute) FROM generate_series(1, 181) AS minute WHERE minute % 3 <> 0));
    -- One was lost within the hour, and one before.
    PERFORM observe_ago('scratch-OST0001', VARIADIC every(1, 1, 180, 30, 100));
    -- The lost readings have left the hour.
    PERFORM observe_ago('scratch-OST0002', VARIADIC every(1, 1, 180, 70, 80, 90));
    -- Readings a tenth of the interval early or late are not missing.
    PERFORM observe_ago('scratch-OST0003', VARIADIC (SELECT array_agg(minute + (minute * 7 % 3 - 1) * 0.1) FROM generate_series(1, 180) AS minute));
    -- Few readings within the hour: the last ten give the interval of the target. The reading of 45 minutes ago was lost.
    PERFORM observe_ago('scratch-OST0004', VARIADIC every(20, 5, 245, 45));
    -- An outage of 40 minutes: 39 readings were lost.
    PERFORM observe_ago('scratch-OST0005', VARIADIC every(1, 1, 10) || every(1, 50, 180));
    -- A target that is read by hand. Missing readings cannot be known.
    PERFORM observe_ago('scratch-OST0006', 3, 10, 12, 47, 50, 110, 130, 200, 460, 463, 500);
    PERFORM observe_ago('scratch-OST0007', 3, 50);
    -- The interval became shorter 40 minutes ago: in the hour of the change, the longer intervals count as gaps.
    PERFORM observe_ago('scratch-OST0008', VARIADIC every(1, 1, 40) || every(2, 42, 180));
    -- The last observation is older than the hour.
    PERFORM observe_ago('scratch-OST0009', VARIADIC every(1, 61, 180, 70));
END $$;
SELECT target, states, usual_interval, missed, regexp_replace(remedy, 'from 2.* to 2[^,]*', 'from … to …') AS remedy
FROM jobstats.health WHERE target IS NOT NULL ORDER BY target;

-- Per hour: a gap belongs to the hour in which it ends.
CREATE FUNCTION world.past(minute numeric) RETURNS timestamptz LANGUAGE sql STABLE AS $$
SELECT date_trunc('hour', now(), 'UTC') - interval '4 hours' + minute * interval '1 minute'
$$;
DO $$ BEGIN
    PERFORM observe('lost', 'scratch-OST0000', 'oss1', ARRAY(SELECT past(minute) FROM generate_series(1, 180) AS minute WHERE minute % 3 <> 0 ORDER BY 1));
    PERFORM observe('lost', 'scratch-OST0001', 'oss1', ARRAY(SELECT past(minute) FROM generate_series(1, 180) AS minute WHERE minute NOT BETWEEN 31 AND 69 ORDER BY 1));
    PERFORM observe('lost', 'scratch-OST0002', 'oss1', ARRAY(SELECT past(minute) FROM generate_series(10, 180, 30) AS minute ORDER BY 1));
    PERFORM observe('lost', 'scratch-OST0003', 'oss1', ARRAY(SELECT past(minute) FROM unnest('{10, 13, 40, 66, 71, 110, 175}'::numeric[]) AS minute ORDER BY 1));
END $$;
SELECT extract(hour FROM hour - past(0)) AS hour, target, observations, gaps, missed FROM jobstats.quality WHERE cluster = 'lost' ORDER BY target, 1;
ROLLBACK;
