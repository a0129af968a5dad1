-- top ten of jobs in ten minutes
-- ours
SELECT rank, labels ->> 'job', total, rate, share, calls, per_call, coverage
FROM jobstats_top(:since + interval '12:00', :since + interval '12:10', 'service_time', 'job');
-- by hand
WITH x AS MATERIALIZED (SELECT * FROM seen(:since + interval '12:00', :since + interval '12:10', '10 minutes')),
done AS (
    SELECT e.job, sum(:service_time) AS usecs, sum(:service_calls) AS calls, sum((:service_time) / x.seconds) / 1e6 AS rate
    FROM jobstats.rollup_10m i JOIN jobstats.entries e USING (entry_id) JOIN x USING (target_id)
    WHERE i.bucket > :since + interval '12:00' AND i.bucket <= :since + interval '12:10' GROUP BY 1
)
SELECT row_number() OVER (ORDER BY d.usecs DESC), d.job, d.usecs / 1e6, d.rate, round(d.usecs / sum(d.usecs) OVER (), 4), d.calls,
    CASE WHEN d.calls >= 10 THEN d.usecs / 1e6 / d.calls END, (SELECT trunc((sum(x.seconds) / 600 / count(*))::numeric, 4) FROM x)
FROM done d WHERE d.usecs > 0 ORDER BY d.usecs DESC LIMIT 10;
-- lag()
SELECT job, sum(service_time) / 1e6, sum(service_time) / 600e6, sum(calls)
FROM (
    SELECT job, greatest(service_time - lag(service_time) OVER entry, 0) AS service_time,
        greatest(calls - lag(calls) OVER entry, 0) AS calls
    FROM (SELECT c.*, :service_sums AS service_time, :service_counts AS calls FROM counters c
        WHERE "time" > :since + interval '12:00' AND "time" <= :since + interval '12:10') c
    WINDOW entry AS (PARTITION BY target, entry ORDER BY "time")
) c GROUP BY 1 ORDER BY 2 DESC NULLS LAST LIMIT 10;
