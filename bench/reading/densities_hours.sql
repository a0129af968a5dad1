-- density of users' service time at 1 hour, of 22 hours
-- ours
SELECT "time", bucket, count
FROM jobstats_densities(:since + interval '1 hour', :since + interval '23 hours', 'service_time', 'uid', step => '1 hour');
-- by hand
SELECT d.step, d.bucket, count(*) FROM (
    SELECT r.step, floor(log(r.rate))::integer AS bucket FROM (
        SELECT x.step, i.uid, sum(i.service_usecs / x.seconds) / 1e6 AS rate
        FROM jobstats.rollup_1h_users i
        JOIN seen(:since + interval '1 hour', :since + interval '23 hours', '1 hour') x
            ON x.target_id = i.target_id AND x.step = i.bucket - interval '1 microsecond'
        WHERE i.bucket > :since + interval '1 hour' AND i.bucket <= :since + interval '23 hours' GROUP BY 1, 2
    ) r WHERE r.rate > 0
) d GROUP BY 1, 2;
-- lag()
SELECT d.step, floor(log(d.rate)), count(*) FROM (
    SELECT date_bin('1 hour', "time", :since) AS step, uid, sum(value) / 3600 AS rate FROM (
        SELECT "time", uid, greatest(value - lag(value) OVER entry, 0) AS value
        FROM (SELECT c.*, :service_sums AS value FROM counters c
            WHERE "time" > :since + interval '1 hour' AND "time" <= :since + interval '23 hours') c
        WINDOW entry AS (PARTITION BY target, entry ORDER BY "time")
    ) c GROUP BY 1, 2
) d WHERE d.rate > 0 GROUP BY 1, 2;
