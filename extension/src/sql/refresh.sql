-- Rollups are brought up to date in steps, a transaction each: announce how far, let the feeds end that do not know of
-- that, compute. What is not computed yet the views take from increments.

CREATE FUNCTION jobstats_internal.bucket(width interval, instant timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN pg_catalog.date_bin(width, instant, timestamptz '1970-01-01 00:00:00+00');
COMMENT ON FUNCTION jobstats_internal.bucket(interval, timestamptz) IS
'Internal: the start of the bucket of a rollup that an instant lies in.';

CREATE FUNCTION jobstats_internal.dirty_buckets(known bigint[], width interval, refreshed timestamptz)
RETURNS TABLE (target_id integer, buckets tstzrange)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT d.target_id, unnest(range_agg(tstzrange(
    jobstats_internal.bucket(width, d.span_from),
    least(refreshed, jobstats_internal.bucket(width, d.span_to - interval '1 microsecond') + width),
    '(]')))
FROM jobstats.dirty d
WHERE d.dirty_id = ANY (known) AND d.span_from < refreshed
GROUP BY d.target_id
$$;
COMMENT ON FUNCTION jobstats_internal.dirty_buckets(bigint[], interval, timestamptz) IS
'Internal: the buckets of a width, up to where they are computed, that these rows of jobstats.dirty touch, by target.';

-- No SET clause: a procedure with one cannot commit.
CREATE PROCEDURE jobstats_internal.refresh_users(known bigint[])
LANGUAGE plpgsql
AS $$
DECLARE
    pace CONSTANT interval := '1 day';
    level record;
    span record;
    low timestamptz;
    high timestamptz;
    began timestamptz;
    affected bigint;
BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    FOR level IN
        SELECT l.level AS name, l.width, l.users_refreshed, format('rollup_%s_users', l.level) AS relation,
            jobstats_internal.rollup_unit(l.level) AS unit
        FROM jobstats.rollups l
        ORDER BY l.width
    LOOP
        began := clock_timestamp();
        affected := 0;
        FOR span IN
            SELECT d.target_id, d.buckets
            FROM jobstats_internal.dirty_buckets(known, level.width, level.users_refreshed) d
        LOOP
            COMMIT;
            PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
            -- Setup and jobstats_reidentify() wait, or are waited for.
            PERFORM pg_advisory_xact_lock(x'6a6f6273'::integer, 0);
            affected := affected + jobstats_internal.roll_up(level.name, true, lower(span.buckets), upper(span.buckets), span.target_id);
        END LOOP;
        LOOP
            COMMIT;
            PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
            PERFORM pg_advisory_xact_lock(x'6a6f6273'::integer, 0);
            SELECT l.users_refreshed, l.refreshed INTO low, high FROM jobstats.rollups l WHERE l.level = level.name;
            IF low = 'epoch' AND high > 'epoch' THEN
                EXECUTE format('SELECT coalesce(date_bin(''1 day'', min(r.bucket), ''epoch''), $1) FROM jobstats.rollup_%s r', level.name)
                    INTO low USING high;
                UPDATE jobstats.rollups l SET users_refreshed = low WHERE l.level = level.name;
            END IF;
            EXIT WHEN low >= high;
            low := jobstats_internal.skip_empty_days(level.name, true, low, high);
            PERFORM jobstats_internal.add_partitions(level.relation, level.unit, low, least(low + pace, high));
            affected := affected + jobstats_internal.roll_up(level.name, true, low, least(low + pace, high));
            UPDATE jobstats.rollups l SET users_refreshed = least(low + pace, high) WHERE l.level = level.name;
        END LOOP;
        INSERT INTO jobstats.maintenance VALUES ('refresh of ' || level.relation, began, clock_timestamp() - began, affected);
    END LOOP;
    COMMIT;
END
$$;
COMMENT ON PROCEDURE jobstats_internal.refresh_users(bigint[]) IS
'Internal: brings the sums of rollups by target and user up to date with these.';

-- No SET clause: a procedure with one cannot commit.
CREATE PROCEDURE jobstats_internal.refresh()
LANGUAGE plpgsql
AS $$
DECLARE
    -- So that rows lie in the order of their buckets, and what is summed at once is not too much.
    pace CONSTANT interval := '1 day';
    until timestamptz;
    known bigint[];
    level record;
    span record;
    low timestamptz;
    high timestamptz;
    began timestamptz;
    affected bigint;
BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    -- Unless feeds from before the last announcement may still be running: those of two would be too many to wait for.
    UPDATE jobstats.refresh r
    SET number = r.number + 1, announced = greatest(r.announced, n.announced), horizon = greatest(r.horizon, n.horizon)
    FROM (
        SELECT jobstats_internal.bucket('10 minutes', now() - s.refresh_lag), jobstats_internal.bucket('1 day', now() - s.retention)
        FROM jobstats.settings s) AS n (announced, horizon)
    WHERE r.settled = r.number AND (r.announced < n.announced OR r.horizon < n.horizon);
    COMMIT;

    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    IF current_setting('lock_timeout') = '0' THEN
        PERFORM set_config('lock_timeout', '60s', true);
    END IF;
    BEGIN
        PERFORM pg_advisory_xact_lock(x'6a6f6266'::integer, r.settled) FROM jobstats.refresh r WHERE r.settled < r.number;
    EXCEPTION WHEN lock_not_available THEN
        INSERT INTO jobstats.maintenance VALUES ('refresh', now(), clock_timestamp() - now(), 0, 'a feed has been running for long');
        RAISE WARNING 'a feed has been running for long: rollups are brought up to date by the next call of jobstats_maintain()';
        RETURN;
    END;
    UPDATE jobstats.refresh r SET settled = r.number RETURNING r.announced INTO until;
    COMMIT;

    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    -- What made these spans dirty is committed, so that what is computed from now on holds it.
    SELECT coalesce(array_agg(d.dirty_id), '{}') INTO known FROM jobstats.dirty d;
    FOR level IN
        SELECT l.level AS name, l.width, l.refreshed, 'rollup_' || l.level AS relation, c.relkind = 'v' AS aggregate,
            jobstats_internal.rollup_unit(l.level) AS unit, r.horizon
        FROM jobstats.rollups l
        JOIN pg_class c ON c.oid = to_regclass('jobstats.rollup_' || l.level)
        CROSS JOIN jobstats.refresh r
        ORDER BY l.width
    LOOP
        began := clock_timestamp();
        affected := 0;
        FOR span IN
            SELECT CASE WHEN level.aggregate THEN NULL ELSE d.target_id END AS target_id, unnest(range_agg(d.buckets)) AS buckets
            FROM jobstats_internal.dirty_buckets(known, level.width, level.refreshed) d
            GROUP BY 1
        LOOP
            COMMIT;
            PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
            IF level.aggregate THEN
                CALL jobstats.refresh_aggregate(level.name, lower(span.buckets), upper(span.buckets));
            ELSE
                -- Two refreshes at once compute one after the other.
                PERFORM pg_advisory_xact_lock(x'6a6f6273'::integer, 0);
                affected := affected + jobstats_internal.roll_up(level.name, false, lower(span.buckets), upper(span.buckets), span.target_id);
            END IF;
        END LOOP;

        high := jobstats_internal.bucket(level.width, until);
        LOOP
            COMMIT;
            PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
            PERFORM pg_advisory_xact_lock(x'6a6f6273'::integer, 0);
            SELECT l.refreshed INTO low FROM jobstats.rollups l WHERE l.level = level.name;
            IF low = 'epoch' THEN
                SELECT coalesce(jobstats_internal.bucket(level.width, greatest(min(o."time"), level.horizon)), high)
                INTO low
                FROM jobstats.targets t
                CROSS JOIN LATERAL (
                    SELECT f."time" FROM jobstats.observations f
                    WHERE f.target_id = t.target_id ORDER BY f."time" LIMIT 1) o;
            END IF;
            EXIT WHEN low >= high;
            low := jobstats_internal.skip_empty_days(level.name, false, low, high);
            IF level.aggregate THEN
                CALL jobstats.refresh_aggregate(level.name, low, least(low + pace, high));
                PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
            ELSE
                PERFORM jobstats_internal.add_partitions(level.relation, level.unit, low, least(low + pace, high));
                affected := affected + jobstats_internal.roll_up(level.name, false, low, least(low + pace, high));
            END IF;
            UPDATE jobstats.rollups l SET refreshed = greatest(l.refreshed, least(low + pace, high))
            WHERE l.level = level.name;
        END LOOP;
        INSERT INTO jobstats.maintenance VALUES ('refresh of ' || level.relation, began, clock_timestamp() - began, affected);
    END LOOP;
    CALL jobstats_internal.refresh_users(known);
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    DELETE FROM jobstats.dirty d WHERE d.dirty_id = ANY (known);
    COMMIT;
END
$$;
COMMENT ON PROCEDURE jobstats_internal.refresh() IS
'Internal: brings the rollups up to date, as far as settings.refresh_lag before now.';
