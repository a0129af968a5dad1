-- Eight targets of one cluster, read 40 times, with entries common to all of them: OSTs whose entries are skipped now and
-- then, MDTs whose entries restart, each with its own counters, and a service of the server. Fed in order for comparison, and laid out for eight feeders.
\set QUIET on
\ir ../pg_regress/include/store.sql
-- A feeder that has waited for too long would not try again, as a shipper does.
UPDATE jobstats.settings SET feed_wait = '1 hour';
-- A day that is over, so that rollups can hold all of it.
UPDATE texts.clock SET zero = zero - interval '27 hours';
SELECT setseed(0.5);

CREATE TABLE readings AS
SELECT target, minute, CASE
        WHEN target < 4 THEN ost('fs-OST000' || target, VARIADIC coalesce(array_agg(
            record(job || ':1000:r01c01', calls, calls * 4096, minute) ORDER BY job)
            FILTER (WHERE minute >= born AND (target * 7 + minute * 11 + job * 13) % 17 > 0), '{}'))
        ELSE mdt('fs-MDT000' || target, VARIADIC coalesce(array_agg(
            life(job || ':1000:r01c01', at(minute - age - 1), age + 1, 10 * (age + 1)) ORDER BY job)
            FILTER (WHERE minute >= born), '{}'))
    END || stats(CASE WHEN target < 4 THEN format('obdfilter.fs-OST000%s.stats', target) ELSE format('mdt.fs-MDT000%s.md_stats', target) END,
        at(minute), at(-60), jsonb_build_object('open', minute * target + 1, 'open_usecs', minute * 70, 'write_bytes', minute * 4096)) AS body
FROM generate_series(0, 7) AS target, generate_series(0, 78, 2) AS minute, generate_series(1, 30) AS job,
    LATERAL (SELECT job AS born, minute * job AS calls, minute % (10 + 2 * job) AS age) AS state
GROUP BY target, minute;

-- Writes all readings twice, each time in different texts of one to three targets in another order: the later feed repeats known readings.
CREATE TABLE texts AS
SELECT turn, minute, string_agg(body, '' ORDER BY random()) || stats('mds.MDS.mdt.stats', at(minute), at(-60),
    jsonb_build_object('req_waittime', 60 * minute + 1, 'req_waittime_usecs', 3000 * minute)) AS body
FROM (SELECT turn, minute, body, row_number() OVER (PARTITION BY turn, minute ORDER BY random()) AS place
    FROM readings, generate_series(1, 2) AS turn) AS shuffled
GROUP BY turn, minute, (place - 1) / 3;

-- Every feeder's own list, in no order: nearly everything is late.
CREATE TABLE work AS
SELECT feeder, row_number() OVER (PARTITION BY feeder ORDER BY random()) AS step, minute, body
FROM (SELECT floor(random() * 8)::integer AS feeder, minute, body FROM texts) AS shared;

INSERT INTO jobstats.feed (cluster, server, "time", body) SELECT 'in order', 'n1', at(minute), body FROM texts WHERE turn = 1 ORDER BY minute;

-- Rollups are refreshed during the feed: first an empty range, then further with every call.
UPDATE jobstats.settings SET refresh_lag = now() - at(-10);

-- Sums of target counters that differ from their increments, where these are retained.
CREATE VIEW wholes_differ AS
SELECT * FROM (
    SELECT '10 minutes' AS level, * FROM jobstats.rollup_10m_targets UNION ALL
    SELECT '1 hour', * FROM jobstats.rollup_1h_targets UNION ALL
    SELECT '1 day', * FROM jobstats.rollup_1d_targets) r
FULL JOIN (
    SELECT l.level, jobstats_internal.bucket(l.level::interval, i."time" - interval '1 us') + interval '1 us' AS bucket, i.target_id,
        sum(i.observed_usecs) AS usecs, sum(i.open) AS opens
    FROM jobstats.target_increments i, (VALUES ('10 minutes'), ('1 hour'), ('1 day')) AS l (level) GROUP BY 1, 2, 3) i
USING (level, bucket, target_id)
WHERE bucket > (SELECT f.dropped FROM jobstats.refresh f) AND (r.observed_usecs, r.open) IS DISTINCT FROM (i.usecs, i.opens);

-- The number of rows of a rollup, or of a view on one, that differ from the sums of increments, where these are retained.
CREATE FUNCTION differences(prefix text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    level record;
    here bigint;
    found bigint := 0;
    columns text := (SELECT string_agg(quote_ident(name), ', ') FROM jobstats_operations() o,
        LATERAL (VALUES (o.operation), (o.operation || '_usecs')) AS c (name)
        JOIN pg_attribute a ON a.attrelid = 'jobstats.increments'::regclass AND a.attname = name);
BEGIN
    FOR level IN SELECT l.level, l.width FROM jobstats.rollups l LOOP
        EXECUTE format($f$
            WITH expected AS (
                SELECT date_bin(%L, "time" - interval '1 microsecond', 'epoch') + interval '1 microsecond' AS bucket, entry_id, target_id,
                    min(since) AS first, count(*) FILTER (WHERE reset) AS resets, %s
                FROM jobstats.increments GROUP BY 1, 2, 3
            ), shown AS (
                SELECT bucket, entry_id, target_id, first, resets, %s FROM jobstats.%I
                WHERE bucket > (SELECT r.dropped FROM jobstats.refresh r))
            SELECT count(*) FROM ((TABLE expected EXCEPT ALL TABLE shown) UNION ALL (TABLE shown EXCEPT ALL TABLE expected)) d
        $f$, level.width, regexp_replace(columns, '("?\w+"?)', 'sum(\1)::bigint', 'g'), columns, prefix || level.level) INTO here;
        found := found + here;
    END LOOP;
    RETURN found;
END
$$;
