-- totals of all users in 24 hours that begin anywhere
-- ours
SELECT labels ->> 'uid', operation, total, coverage
FROM jobstats_totals(:since + interval '1:23:45.678901', :since + interval '25:23:45.678901', 'service_time,write_bytes', 'uid') WHERE total <> 0;
-- by hand
WITH rim (lower, upper, first_bucket, last_bucket) AS (VALUES
    (:since + interval '1:23:45.678901', :since + interval '1:30', :since + interval '1:30', :since + interval '2:00'),
    (:since + interval '25:20', :since + interval '25:23:45.678901', :since + interval '25:00', :since + interval '25:20')
), done (uid, usecs, bytes) AS (
    SELECT i.uid, i.service_usecs, i.write_bytes
    FROM jobstats.rollup_1h_users i WHERE i.bucket > :since + interval '2:00' AND i.bucket <= :since + interval '25:00'
    UNION ALL
    SELECT i.uid, i.service_usecs, i.write_bytes
    FROM rim r JOIN jobstats.rollup_10m_users i ON i.bucket > r.first_bucket AND i.bucket <= r.last_bucket
    UNION ALL
    SELECT e.uid, :service_time_share, div(i.write_bytes::numeric * p.until, p.width) - div(i.write_bytes::numeric * p.since, p.width)
    FROM rim r
    JOIN jobstats.increments i ON i."time" > r.lower AND i."time" <= r.upper + interval '10 minutes' AND i.since < r.upper
    JOIN jobstats.entries e ON e.entry_id = i.entry_id
    CROSS JOIN LATERAL (
        SELECT (1e6 * extract(epoch FROM i."time" - i.since))::bigint AS width,
            (1e6 * extract(epoch FROM greatest(r.lower, i.since) - i.since))::bigint AS since,
            (1e6 * extract(epoch FROM least(r.upper, i."time") - i.since))::bigint AS until
    ) p
)
SELECT d.uid, o.operation, o.total, (SELECT trunc((sum(x.seconds) / 86400 / (SELECT count(*) FROM jobstats.targets))::numeric, 4)
    FROM seen(:since + interval '1:23:45.678901', :since + interval '25:23:45.678901', '1 day') x)
FROM (SELECT d.uid, sum(d.usecs) / 1e6 AS seconds, sum(d.bytes) AS bytes FROM done d GROUP BY 1) d
CROSS JOIN LATERAL (VALUES ('service_time', d.seconds), ('write_bytes', d.bytes)) o (operation, total) WHERE o.total <> 0;
