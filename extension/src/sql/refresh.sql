-- Rollups are brought up to date in steps, a transaction each: announce how far, let the feeds end that may not have
-- heard of it, compute. What is announced but not computed yet the views take from increments.

CREATE FUNCTION jobstats_await_feeds(patience interval) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    feeds text[];
    until timestamptz := clock_timestamp() + patience;
BEGIN
    SELECT array_agg(l.virtualtransaction) INTO feeds
    FROM pg_locks l
    WHERE l.locktype = 'advisory' AND l.mode = 'ShareLock' AND l.granted
        AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
        AND l.classid = x'6a6f6273'::integer::oid AND l.objid = (-1)::oid AND l.objsubid = 2;
    WHILE EXISTS (
        SELECT FROM pg_locks l
        WHERE l.locktype = 'advisory' AND l.mode = 'ShareLock' AND l.virtualtransaction = ANY (feeds)
            AND l.classid = x'6a6f6273'::integer::oid AND l.objid = (-1)::oid AND l.objsubid = 2)
    LOOP
        IF clock_timestamp() > until THEN
            RETURN false;
        END IF;
        PERFORM pg_sleep(0.02);
    END LOOP;
    RETURN true;
END
$$;
COMMENT ON FUNCTION jobstats_await_feeds(interval) IS
'Internal: waits until the feeds have ended that are running now; false where that takes longer.';

-- No SET clause: a procedure with one cannot commit.
CREATE PROCEDURE jobstats_refresh()
LANGUAGE plpgsql
AS $$
DECLARE
    until timestamptz;
    settled bigint[];
    level record;
    span record;
    low timestamptz;
    high timestamptz;
BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    PERFORM pg_advisory_xact_lock(x'6a6f6273'::integer, 0);
    SELECT date_bin('10 minutes', now() - s.refresh_lag, timestamptz '1970-01-01 00:00:00+00') INTO until
    FROM jobstats.settings s;
    UPDATE jobstats.rollups SET announced = until WHERE announced < until;
    COMMIT;

    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    IF NOT @extschema@.jobstats_await_feeds('60 seconds') THEN
        RAISE WARNING 'a feed has been running for over a minute: rollups are brought up to date by the next call of jobstats_maintain()';
        RETURN;
    END IF;
    -- What these spans need is committed, so that what is computed from now on holds it.
    SELECT coalesce(array_agg(d.dirty_id), '{}') INTO settled FROM jobstats.dirty d;
    COMMIT;

    FOR level IN
        SELECT l.level, l.width, l.refreshed, c.relkind = 'v' AS aggregate, s.retention,
            CASE l.level WHEN '10m' THEN interval '1 day' WHEN '1h' THEN interval '10 days' ELSE interval '100 days' END AS pace,
            CASE l.level WHEN '10m' THEN 'day' WHEN '1h' THEN 'month' ELSE 'year' END AS unit
        FROM jobstats.rollups l
        CROSS JOIN jobstats.settings s
        JOIN pg_class c ON c.oid = to_regclass('jobstats.rollup_' || l.level)
        ORDER BY l.width
    LOOP
        PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
        -- Spans that feeds have changed, whole buckets of them.
        FOR span IN
            SELECT CASE WHEN level.aggregate THEN NULL ELSE d.target_id END AS target_id,
                unnest(range_agg(tstzrange(
                    date_bin(level.width, d.span_from, timestamptz '1970-01-01 00:00:00+00'),
                    least(level.refreshed,
                        date_bin(level.width, d.span_to - interval '1 microsecond', timestamptz '1970-01-01 00:00:00+00')
                            + level.width), '(]'))) AS buckets
            FROM jobstats.dirty d
            WHERE d.dirty_id = ANY (settled) AND d.span_from < level.refreshed
            GROUP BY 1
        LOOP
            IF level.aggregate THEN
                CALL jobstats.refresh_aggregate(level.level, lower(span.buckets), upper(span.buckets));
            ELSE
                PERFORM @extschema@.jobstats_roll_up(level.level, lower(span.buckets), upper(span.buckets), span.target_id);
            END IF;
            COMMIT;
            PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
        END LOOP;
        -- What is new.
        high := date_bin(level.width, until, timestamptz '1970-01-01 00:00:00+00');
        low := level.refreshed;
        IF low = '-infinity' THEN
            SELECT date_bin(level.width, greatest(min(o."time"), now() - level.retention), timestamptz '1970-01-01 00:00:00+00')
            INTO low
            FROM jobstats.targets t
            CROSS JOIN LATERAL (
                SELECT f."time" FROM jobstats.observations f WHERE f.target_id = t.target_id ORDER BY f."time" LIMIT 1) o;
        END IF;
        WHILE low < high LOOP
            IF level.aggregate THEN
                CALL jobstats.refresh_aggregate(level.level, low, least(low + level.pace, high));
            ELSE
                PERFORM @extschema@.jobstats_add_partitions('rollup_' || level.level, level.unit, low, least(low + level.pace, high));
                PERFORM @extschema@.jobstats_roll_up(level.level, low, least(low + level.pace, high));
            END IF;
            low := least(low + level.pace, high);
            UPDATE jobstats.rollups l SET refreshed = low WHERE l.level = level.level;
            COMMIT;
            PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
        END LOOP;
    END LOOP;
    DELETE FROM jobstats.dirty d WHERE d.dirty_id = ANY (settled);
    COMMIT;
END
$$;
COMMENT ON PROCEDURE jobstats_refresh() IS
'Internal: brings the rollups up to date, as far as settings.refresh_lag before now.';
