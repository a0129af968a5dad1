-- rates of all targets at 10 minutes
-- ours
SELECT "time", name, operation, rate, coverage
FROM jobstats_rates(:since, :until, 'service_time,read_bytes,write_bytes,metadata', 'target', '10 minutes');
-- by hand
WITH done AS (
    SELECT i.target_id, i.bucket - interval '1 microsecond' AS step, sum(i.service_usecs) AS service_time,
        sum(i.read_bytes) AS read_bytes, sum(i.write_bytes) AS write_bytes, sum(i.metadata) AS metadata
    FROM jobstats.rollup_10m_users i WHERE i.bucket > :since AND i.bucket <= :until GROUP BY 1, 2
)
SELECT s.step, t.name, o.operation, o.value / x.seconds, trunc(coalesce(x.seconds / 600, 0)::numeric, 4)
FROM jobstats.targets t
CROSS JOIN generate_series(:since, :until - interval '1 microsecond', '10 minutes') s (step)
LEFT JOIN seen(:since, :until, '10 minutes') x ON x.target_id = t.target_id AND x.step = s.step
LEFT JOIN done d ON d.target_id = t.target_id AND d.step = s.step
CROSS JOIN LATERAL (VALUES ('service_time', coalesce(d.service_time, 0) / 1e6::double precision),
    ('read_bytes', coalesce(d.read_bytes, 0)), ('write_bytes', coalesce(d.write_bytes, 0)),
    ('metadata', CASE WHEN t.kind = 'MDT' THEN coalesce(d.metadata, 0) ELSE 0 END)) o (operation, value);
-- lag()
SELECT date_bin('10 minutes', "time", :since), target, sum(service_time) / 600e6, sum(read_bytes) / 600,
    sum(write_bytes) / 600, sum(metadata) / 600
FROM (
    SELECT "time", target,
        greatest(service_time - lag(service_time) OVER entry, 0) AS service_time,
        greatest(read_bytes_sum - lag(read_bytes_sum) OVER entry, 0) AS read_bytes,
        greatest(write_bytes_sum - lag(write_bytes_sum) OVER entry, 0) AS write_bytes,
        greatest(metadata - lag(metadata) OVER entry, 0) AS metadata
    FROM (SELECT c.*, :service_sums AS service_time, :metadata_calls AS metadata FROM counters c
        WHERE "time" > :since AND "time" <= :until) c
    WINDOW entry AS (PARTITION BY target, entry ORDER BY "time")
) c GROUP BY 1, 2;
