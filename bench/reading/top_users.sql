-- top ten of users
-- ours
SELECT rank, labels ->> 'uid', total, rate, share, calls, per_call, coverage FROM jobstats_top(:since, :until, 'service_time', 'uid');
-- by hand
WITH x AS MATERIALIZED (SELECT * FROM seen(:since, :until, '1 day')),
done AS (
    SELECT i.uid, sum(i.service_usecs) AS usecs, sum(i.service_calls) AS calls, sum(i.service_usecs / x.seconds) / 1e6 AS rate
    FROM jobstats.rollup_1d_users i JOIN x USING (target_id)
    WHERE i.bucket > :since AND i.bucket <= :until GROUP BY 1
)
SELECT row_number() OVER (ORDER BY d.usecs DESC), d.uid, d.usecs / 1e6, d.rate, round(d.usecs / sum(d.usecs) OVER (), 4), d.calls,
    CASE WHEN d.calls >= 10 THEN d.usecs / 1e6 / d.calls END, (SELECT trunc((sum(x.seconds) / 86400 / count(t.target_id))::numeric, 4) FROM jobstats.targets t LEFT JOIN x USING (target_id))
FROM done d WHERE d.usecs > 0 ORDER BY d.usecs DESC LIMIT 10;
-- lag()
SELECT uid, sum(service_time) / 1e6, sum(service_time) / 86400e6, sum(calls)
FROM (
    SELECT uid, greatest(service_time - lag(service_time) OVER entry, 0) AS service_time,
        greatest(calls - lag(calls) OVER entry, 0) AS calls
    FROM (SELECT c.*, :service_sums AS service_time, :service_counts AS calls FROM counters c
        WHERE "time" > :since AND "time" <= :until) c
    WINDOW entry AS (PARTITION BY target, entry ORDER BY "time")
) c GROUP BY 1 ORDER BY 2 DESC NULLS LAST LIMIT 10;
