-- eight rates of one target in 36 steps
-- ours
SELECT "time", name, operation, rate, coverage FROM jobstats_rates(:since, :since + interval '6 hours',
    'service_time,read_bytes,write_bytes,read,write,setattr,punch,sync', 'target', '10 minutes', filter => 'target=puhti-OST0003');
-- by hand
WITH done AS (
    SELECT i.target_id, i.bucket - interval '1 microsecond' AS step, sum(i.service_usecs) / 1e6::double precision AS service_time,
        sum(i.read_bytes) AS read_bytes, sum(i.write_bytes) AS write_bytes, sum(i.read) AS read, sum(i.write) AS write,
        sum(i.setattr) AS setattr, sum(i.punch) AS punch, sum(i.sync) AS sync
    FROM jobstats.rollup_10m_users i WHERE i.bucket > :since AND i.bucket <= :since + interval '6 hours'
        AND i.target_id = (SELECT t.target_id FROM jobstats.targets t WHERE t.name = 'puhti-OST0003') GROUP BY 1, 2
)
SELECT x.step, t.name, o.operation, coalesce(o.value, 0) / x.seconds, trunc((x.seconds / 600)::numeric, 4)
FROM jobstats.targets t JOIN seen(:since, :since + interval '6 hours', '10 minutes') x USING (target_id)
LEFT JOIN done d ON d.target_id = t.target_id AND d.step = x.step
CROSS JOIN LATERAL (VALUES ('service_time', d.service_time), ('read_bytes', d.read_bytes), ('write_bytes', d.write_bytes), ('read', d.read),
    ('write', d.write), ('setattr', d.setattr), ('punch', d.punch), ('sync', d.sync)) o (operation, value)
WHERE t.name = 'puhti-OST0003';
-- lag()
SELECT date_bin('10 minutes', "time", :since), sum(service_time) / 600e6, sum(read_bytes) / 600, sum(write_bytes) / 600,
    sum(read) / 600, sum(write) / 600, sum(setattr) / 600, sum(punch) / 600, sum(sync) / 600
FROM (
    SELECT "time", greatest(service_time - lag(service_time) OVER entry, 0) AS service_time,
        greatest(read_bytes_sum - lag(read_bytes_sum) OVER entry, 0) AS read_bytes,
        greatest(write_bytes_sum - lag(write_bytes_sum) OVER entry, 0) AS write_bytes,
        greatest(read - lag(read) OVER entry, 0) AS read, greatest(write - lag(write) OVER entry, 0) AS write,
        greatest(setattr - lag(setattr) OVER entry, 0) AS setattr, greatest(punch - lag(punch) OVER entry, 0) AS punch,
        greatest(sync - lag(sync) OVER entry, 0) AS sync
    FROM (SELECT c.*, :service_sums AS service_time FROM counters c
        WHERE "time" > :since AND "time" <= :since + interval '6 hours' AND target = 'puhti-OST0003') c
    WINDOW entry AS (PARTITION BY target, entry ORDER BY "time")
) c GROUP BY 1;
