-- Rollups are refreshed in steps, a transaction each: announce the new horizon, wait for the feeds that do not know it,
-- compute. The views read the rest from increments. The functions here are steps of jobstats_maintain();
-- maintenance_steps.sql defines their order and handles failures.

CREATE FUNCTION jobstats_internal.bucket(width interval, instant timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN pg_catalog.date_bin(width, instant, timestamptz '1970-01-01 00:00:00+00');
COMMENT ON FUNCTION jobstats_internal.bucket IS 'Internal: the start of the bucket of a rollup that an instant lies in.';

-- A condition whose value is unknown to the planner, such as one with now(), opens and locks all partitions. A view adds this weaker
-- condition to it. A cached plan has an earlier bound, which is only slower; the hour allows for a clock that is set back. The function is
-- declared immutable, although it is not, so that the planner evaluates it.
CREATE FUNCTION jobstats_internal.planned_ago(age interval) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
RETURN now() - age - interval '1 hour';
COMMENT ON FUNCTION jobstats_internal.planned_ago IS 'Internal: a time that is at least so long ago, as of when a statement is planned.';

CREATE FUNCTION jobstats_internal.dirty_buckets(width interval, by_user boolean, refreshed timestamptz)
RETURNS TABLE (target_id integer, buckets tstzrange)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT d.target_id, unnest(range_agg(tstzrange(
    jobstats_internal.bucket(width, d.span_from),
    least(refreshed, jobstats_internal.bucket(width, d.span_to - interval '1 microsecond') + width),
    text '(]')))
FROM (
    SELECT n.target_id, n.span_from, n.span_to FROM jobstats.dirty n WHERE n.known
    UNION ALL
    SELECT u.target_id, u.day, u.day + interval '24 hours' FROM jobstats.dirty_users u WHERE by_user
) d
WHERE d.span_from < refreshed
GROUP BY d.target_id
$$;
COMMENT ON FUNCTION jobstats_internal.dirty_buckets IS
'Internal: the buckets of a width, up to where they are computed, that overlap known rows of jobstats.dirty and, for sums by user, rows of jobstats.dirty_users, by target.';

CREATE FUNCTION jobstats_internal.announce() RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
-- No new announcement while feeds from before the last one may still be running: feeds of two announcements could not be waited for.
UPDATE jobstats.refresh r
SET number = r.number + 1, announced = greatest(r.announced, n.announced), horizon = greatest(r.horizon, n.horizon)
FROM (
    SELECT jobstats_internal.bucket(interval '10 minutes', now() - s.refresh_lag),
        jobstats_internal.bucket(interval '1 day', now() - s.retention)
    FROM jobstats.settings s) AS n (announced, horizon)
WHERE r.settled = r.number AND (r.announced < n.announced OR r.horizon < n.horizon);
INSERT INTO jobstats.locks SELECT 'announcement ' || r.number FROM jobstats.refresh r ON CONFLICT DO NOTHING
$$;
COMMENT ON FUNCTION jobstats_internal.announce IS
'Internal: announces up to when rollups will be computed. Later feeds note in jobstats.dirty what they change before that.';

CREATE FUNCTION jobstats_internal.settle() RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
-- A feed holds a share lock on the row of the announcement that it knows.
SELECT FROM jobstats.refresh r JOIN jobstats.locks l ON l.name = 'announcement ' || r.settled
WHERE r.settled < r.number
FOR UPDATE OF l;
UPDATE jobstats.refresh r SET settled = r.number;
DELETE FROM jobstats.locks l USING jobstats.refresh r
WHERE l.name LIKE 'announcement %' AND l.name <> 'announcement ' || r.number;
-- Sums by user are no longer read if settings.keep leaves them out.
UPDATE jobstats.rollups l SET users_refreshed = timestamptz 'epoch'
FROM jobstats.settings s
WHERE s.keep = 'counts' AND l.users_refreshed > timestamptz 'epoch';
-- Events in these spans are judged again.
UPDATE jobstats.watch w SET rejudge_from = least(w.rejudge_from, d.since)
FROM (SELECT min(n.span_from) AS since FROM jobstats.dirty n WHERE NOT n.known) d
WHERE d.since < w.watched_until;
-- The changes that these rows note are committed, so everything that is computed from now on includes them.
UPDATE jobstats.dirty d SET known = true WHERE NOT d.known
$$;
COMMENT ON FUNCTION jobstats_internal.settle IS 'Internal: waits for feeds that do not know the last announcement, as long as lock_timeout allows.';

CREATE FUNCTION jobstats_internal.refreshed(level text, by_user boolean) RETURNS timestamptz
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN by_user THEN l.users_refreshed ELSE l.refreshed END FROM jobstats.rollups l WHERE l.level = refreshed.level
$$;
COMMENT ON FUNCTION jobstats_internal.refreshed IS 'Internal: up to where a rollup, or its sums by user, are computed.';

CREATE FUNCTION jobstats_internal.next_dirty(level text, by_user boolean, after_target integer, after timestamptz, n integer)
RETURNS TABLE (target_id integer, span_from timestamptz, span_to timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT d.target_id, lower(d.buckets), upper(d.buckets)
FROM jobstats.rollups l
CROSS JOIN LATERAL jobstats_internal.dirty_buckets(l.width, by_user, jobstats_internal.refreshed(level, by_user)) d
WHERE l.level = next_dirty.level AND upper(d.buckets) > l.dropped
    AND (after IS NULL OR (d.target_id, lower(d.buckets)) > (after_target, after))
ORDER BY d.target_id, lower(d.buckets)
LIMIT n
$$;
COMMENT ON FUNCTION jobstats_internal.next_dirty IS
'Internal: the next n spans of a rollup, or of its sums by user, to recompute, by target and time.';

CREATE FUNCTION jobstats_internal.next_day(level text, by_user boolean, OUT span_from timestamptz, OUT span_to timestamptz)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    rollup jobstats.rollups;
    high timestamptz;
BEGIN
    SELECT * INTO STRICT rollup FROM jobstats.rollups l WHERE l.level = next_day.level;
    span_from := jobstats_internal.refreshed(level, by_user);
    IF by_user THEN
        high := rollup.refreshed;
        IF span_from = timestamptz 'epoch' AND high > span_from THEN
            EXECUTE format('SELECT coalesce(date_bin(interval ''1 day'', min(r.bucket), timestamptz ''epoch''), $1) FROM jobstats.%I r',
                'rollup_' || level) INTO span_from USING high;
            UPDATE jobstats.rollups l SET users_refreshed = span_from WHERE l.level = next_day.level;
        END IF;
    ELSE
        SELECT jobstats_internal.bucket(rollup.width, r.announced) INTO high FROM jobstats.refresh r;
        IF span_from = timestamptz 'epoch' THEN
            SELECT coalesce(jobstats_internal.bucket(rollup.width, greatest(min(o."time"), min(r.dropped))), high) INTO span_from
            FROM jobstats.refresh r
            CROSS JOIN jobstats.targets t
            CROSS JOIN LATERAL (
                SELECT f."time" FROM jobstats.observations f
                WHERE f.target_id = t.target_id ORDER BY f."time" LIMIT 1) o;
        END IF;
    END IF;
    IF span_from >= high THEN
        span_from := NULL;
    ELSE
        span_from := jobstats_internal.skip_empty_days(level, by_user, span_from, high);
        -- Not all at once: that keeps rows in the order of their buckets, and limits the work of one transaction.
        span_to := jobstats_internal.days_at_once(level, by_user, span_from, high);
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.next_day IS
'Internal: what a rollup, or its sums by user, lack next: a day, the rest of one, or several of few rows; NULL: complete.';

CREATE FUNCTION jobstats_internal.roll_up(
    level text, by_user boolean, span_from timestamptz, span_to timestamptz, target_id integer DEFAULT NULL
) RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'jobstats_roll_up_wrapper';
COMMENT ON FUNCTION jobstats_internal.roll_up IS
'Internal: computes the buckets of a rollup, or of its sums by user, by account and by both, for one target or for all, and returns the number of rows. The caller holds the lock on the store.';

CREATE FUNCTION jobstats_internal.skip_empty_days(
    level text, by_user boolean, span_from timestamptz, span_to timestamptz
) RETURNS timestamptz
LANGUAGE c STABLE STRICT SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'jobstats_skip_empty_days_wrapper';
COMMENT ON FUNCTION jobstats_internal.skip_empty_days IS
'Internal: the start of the first day of a span in which a rollup, or its sums by user, have rows to compute or delete; without such a day, the last day.';

CREATE FUNCTION jobstats_internal.days_at_once(
    level text, by_user boolean, span_from timestamptz, span_to timestamptz
) RETURNS timestamptz
LANGUAGE c STABLE STRICT SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'jobstats_days_at_once_wrapper';
COMMENT ON FUNCTION jobstats_internal.days_at_once IS
'Internal: the end of the days that a rollup, or its sums by user, compute in one transaction: a day, or as many as have few rows together.';
