-- rates of all users at 1 hour
-- ours
SELECT "time", labels ->> 'uid', operation, rate, coverage
FROM jobstats_rates(:since, :until, 'service_time,read_bytes,write_bytes,metadata', 'uid', '1 hour');
-- by hand
WITH x AS MATERIALIZED (SELECT * FROM seen(:since, :until, '1 hour')),
done AS (
    SELECT i.bucket - interval '1 microsecond' AS step, i.uid, sum(i.service_usecs / x.seconds) / 1e6 AS service_time,
        coalesce(sum(i.read_bytes / x.seconds), 0) AS read_bytes, coalesce(sum(i.write_bytes / x.seconds), 0) AS write_bytes,
        coalesce(sum(i.metadata / x.seconds) FILTER (WHERE t.kind = 'MDT'), 0) AS metadata
    FROM jobstats.rollup_1h_users i JOIN jobstats.targets t USING (target_id)
    JOIN x ON x.target_id = i.target_id AND x.step = i.bucket - interval '1 microsecond'
    WHERE i.bucket > :since AND i.bucket <= :until GROUP BY 1, 2
)
SELECT d.step, d.uid, o.operation, o.rate, trunc(c.coverage::numeric, 4)
FROM done d
JOIN (SELECT x.step, sum(x.seconds) / 3600 / (SELECT count(*) FROM jobstats.targets) AS coverage FROM x GROUP BY x.step) c USING (step)
CROSS JOIN LATERAL (VALUES ('service_time', d.service_time), ('read_bytes', d.read_bytes), ('write_bytes', d.write_bytes),
    ('metadata', d.metadata)) o (operation, rate) WHERE o.rate <> 0;
-- lag()
SELECT date_bin('1 hour', "time", :since), uid, sum(service_time) / 3600e6, sum(read_bytes) / 3600,
    sum(write_bytes) / 3600, sum(metadata) / 3600
FROM (
    SELECT "time", uid,
        greatest(service_time - lag(service_time) OVER entry, 0) AS service_time,
        greatest(read_bytes_sum - lag(read_bytes_sum) OVER entry, 0) AS read_bytes,
        greatest(write_bytes_sum - lag(write_bytes_sum) OVER entry, 0) AS write_bytes,
        greatest(metadata - lag(metadata) OVER entry, 0) AS metadata
    FROM (SELECT c.*, :service_sums AS service_time, :metadata_calls AS metadata FROM counters c
        WHERE "time" > :since AND "time" <= :until) c
    WINDOW entry AS (PARTITION BY target, entry ORDER BY "time")
) c GROUP BY 1, 2;
