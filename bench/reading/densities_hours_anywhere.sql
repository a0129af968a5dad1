-- density of users' service time at 1 hour, of 22 hours that begin anywhere
-- ours
SELECT "time", bucket, count
FROM jobstats_densities(:since + interval '1:23:45.678901', :since + interval '23:23:45.678901', 'service_time', 'uid', step => '1 hour');
-- by hand
WITH rim (step, lower, upper, first_bucket, last_bucket) AS (VALUES
    (:since + interval '1:23:45.678901', :since + interval '1:23:45.678901', :since + interval '1:30', :since + interval '1:30', :since + interval '2:00'),
    (:since + interval '23:00', :since + interval '23:20', :since + interval '23:23:45.678901', :since + interval '23:00', :since + interval '23:20')
), x AS MATERIALIZED (
    SELECT s.*, 3600 AS width FROM seen(:since + interval '2:00', :since + interval '23:00', '1 hour') s
    UNION ALL
    SELECT s.*, 2174 FROM seen(:since + interval '1:23:45.678901', :since + interval '2:00', '1 hour') s
    UNION ALL
    SELECT s.*, 1426 FROM seen(:since + interval '23:00', :since + interval '23:23:45.678901', '1 hour') s
), done AS (
    SELECT i.bucket - interval '1 microsecond' AS step, i.target_id, i.uid, i.service_usecs
    FROM jobstats.rollup_1h_users i WHERE i.bucket > :since + interval '2:00' AND i.bucket <= :since + interval '23:00'
    UNION ALL
    SELECT r.step, i.target_id, i.uid, i.service_usecs
    FROM rim r JOIN jobstats.rollup_10m_users i ON i.bucket > r.first_bucket AND i.bucket <= r.last_bucket
    UNION ALL
    SELECT r.step, i.target_id, e.uid, :service_time_share
    FROM rim r
    JOIN jobstats.increments i ON i."time" > r.lower AND i."time" <= r.upper + interval '10 minutes' AND i.since < r.upper
    JOIN jobstats.entries e ON e.entry_id = i.entry_id
    CROSS JOIN LATERAL (
        SELECT (1e6 * extract(epoch FROM i."time" - i.since))::bigint AS width,
            (1e6 * extract(epoch FROM greatest(r.lower, i.since) - i.since))::bigint AS since,
            (1e6 * extract(epoch FROM least(r.upper, i."time") - i.since))::bigint AS until
    ) p
)
SELECT d.step, d.bucket, count(*) FROM (
    SELECT r.step, r.width, floor(log(r.rate))::integer AS bucket FROM (
        SELECT x.step, x.width, i.uid, sum(i.service_usecs / x.seconds) / 1e6 AS rate
        FROM done i JOIN x ON x.target_id = i.target_id AND x.step = i.step GROUP BY 1, 2, 3
    ) r WHERE r.rate > 0
) d GROUP BY 1, 2;
-- lag()
SELECT d.step, floor(log(d.rate)), count(*) FROM (
    SELECT date_bin('1 hour', "time", :since) AS step, uid, sum(value) / 3600 AS rate FROM (
        SELECT "time", uid, greatest(value - lag(value) OVER entry, 0) AS value
        FROM (SELECT c.*, :service_sums AS value FROM counters c
            WHERE "time" > :since + interval '1:23:45.678901' AND "time" <= :since + interval '23:23:45.678901') c
        WINDOW entry AS (PARTITION BY target, entry ORDER BY "time")
    ) c GROUP BY 1, 2
) d WHERE d.rate > 0 GROUP BY 1, 2;
