-- density of users' service time at 10 minutes
-- ours
SELECT "time", bucket, lower, upper, count FROM jobstats_densities(:since, :until, 'service_time', 'uid', step => '10 minutes');
-- by hand
SELECT d.step, d.bucket, 10 ^ d.bucket, 10 ^ (d.bucket + 1), count(*) FROM (
    SELECT r.step, floor(log(r.rate))::integer AS bucket FROM (
        SELECT x.step, i.uid, sum(i.service_usecs / x.seconds) / 1e6 AS rate
        FROM jobstats.rollup_10m_users i
        JOIN seen(:since, :until, '10 minutes') x ON x.target_id = i.target_id AND x.step = i.bucket - interval '1 microsecond'
        WHERE i.bucket > :since AND i.bucket <= :until GROUP BY 1, 2
    ) r WHERE r.rate > 0
) d GROUP BY 1, 2;
-- lag()
SELECT d.step, floor(log(d.rate)), count(*) FROM (
    SELECT date_bin('10 minutes', "time", :since) AS step, uid, sum(value) / 600 AS rate FROM (
        SELECT "time", uid, greatest(value - lag(value) OVER entry, 0) AS value
        FROM (SELECT c.*, :service_sums AS value FROM counters c WHERE "time" > :since AND "time" <= :until) c
        WINDOW entry AS (PARTITION BY target, entry ORDER BY "time")
    ) c GROUP BY 1, 2
) d WHERE d.rate > 0 GROUP BY 1, 2;
