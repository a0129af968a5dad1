-- After a gap in collection, the view health reports it for an hour.
\i reading.sql
\set ECHO all
\pset null '(null)'

-- One transaction, so that now() does not move. "ago" is a time that many minutes before it.
BEGIN;
CREATE FUNCTION world.ago(minutes numeric) RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT now() - minutes * interval '1 minute' $$;
-- Observations every so many minutes until now, with a gap before one of them.
CREATE FUNCTION world.observe_around(target text, step numeric, gap_until numeric, gap numeric) RETURNS void LANGUAGE sql AS $$
SELECT observe('', target, 'oss1', ARRAY(
    SELECT ago(minute + CASE WHEN minute > gap_until THEN gap - step ELSE 0 END) FROM generate_series(1, 119, step) AS minute))
$$;
DO $$ BEGIN
    PERFORM observe_around('scratch-OST0000', 2, 59, 30);
    PERFORM observe_around('scratch-OST0001', 2, 61, 30);
    PERFORM observe_around('scratch-OST0002', 2, 31, 10);
    PERFORM observe_around('scratch-OST0003', 2, 31, 11);
    PERFORM observe_around('scratch-OST0004', 5, 31, 15);
    PERFORM observe_around('scratch-OST0005', 5, 31, 16);
END $$;
-- A gap shows for an hour after it.
SELECT target, states, usual_interval, regexp_replace(replace(replace(remedy,
        date_trunc('second', ago(59))::text, '(59 min ago)'), date_trunc('second', ago(89))::text, '(89 min ago)'),
    'from 2.* to 2[^,]*', 'from … to …') AS remedy
FROM jobstats.health WHERE target IS NOT NULL ORDER BY target;
ROLLBACK;
