-- top ten on one target
-- ours
SELECT rank, labels ->> 'uid', labels ->> 'workload', total, rate, share, calls, per_call, coverage FROM jobstats_top(:since, :until, by => 'uid,workload', filter => 'target=puhti-OST0003');
-- by hand
WITH x AS MATERIALIZED (SELECT * FROM seen(:since, :until, '1 day')),
done AS (
    SELECT e.uid, e.workload, sum(:service_time) AS usecs, sum(:service_calls) AS calls, sum((:service_time) / x.seconds) / 1e6 AS rate
    FROM jobstats.rollup_1d i JOIN jobstats.entries e USING (entry_id) JOIN x USING (target_id)
    WHERE i.bucket > :since AND i.bucket <= :until
        AND i.target_id = (SELECT t.target_id FROM jobstats.targets t WHERE t.name = 'puhti-OST0003') GROUP BY 1, 2
)
SELECT row_number() OVER (ORDER BY d.usecs DESC), d.uid, d.workload, d.usecs / 1e6, d.rate, round(d.usecs / sum(d.usecs) OVER (), 4), d.calls,
    CASE WHEN d.calls >= 10 THEN d.usecs / 1e6 / d.calls END, (SELECT trunc((sum(x.seconds) / 86400 / count(t.target_id))::numeric, 4) FROM jobstats.targets t LEFT JOIN x USING (target_id)
        WHERE t.target_id = (SELECT t.target_id FROM jobstats.targets t WHERE t.name = 'puhti-OST0003'))
FROM done d WHERE d.usecs > 0 ORDER BY d.usecs DESC LIMIT 10;
-- lag()
SELECT uid, job, sum(service_time) / 1e6, sum(service_time) / 86400e6, sum(calls)
FROM (
    SELECT uid, job, greatest(service_time - lag(service_time) OVER entry, 0) AS service_time,
        greatest(calls - lag(calls) OVER entry, 0) AS calls
    FROM (SELECT c.*, :service_sums AS service_time, :service_counts AS calls FROM counters c
        WHERE "time" > :since AND "time" <= :until AND target = 'puhti-OST0003') c
    WINDOW entry AS (PARTITION BY target, entry ORDER BY "time")
) c GROUP BY 1, 2 ORDER BY 3 DESC NULLS LAST LIMIT 10;
