-- one job as a whole
-- ours
SELECT labels ->> 'target', operation, total, calls, nodes FROM jobstats_job_usage(:job)
WHERE operation IN ('service_time', 'read_bytes', 'write_bytes', 'metadata');
-- by hand
SELECT t.name, o.operation, trim_scale(sum(o.total)), sum(o.calls), count(DISTINCT e.node)
FROM jobstats.entries e JOIN jobstats.rollup_1d i USING (entry_id) JOIN jobstats.targets t USING (target_id)
CROSS JOIN LATERAL (VALUES
    ('service_time', (:service_time) / 1e6, :service_calls), ('read_bytes', i.read_bytes, i.read),
    ('write_bytes', i.write_bytes, i.write), ('metadata', CASE WHEN t.kind = 'MDT' THEN :metadata END, :metadata)) o (operation, total, calls)
WHERE e.job = :job AND o.total <> 0 GROUP BY GROUPING SETS ((t.name, o.operation), (o.operation));
-- lag()
SELECT target, sum(service_time) / 1e6, sum(calls), sum(read_bytes), sum(write_bytes), sum(metadata)
FROM (
    SELECT target, greatest(service_time - lag(service_time) OVER entry, 0) AS service_time,
        greatest(calls - lag(calls) OVER entry, 0) AS calls,
        greatest(read_bytes_sum - lag(read_bytes_sum) OVER entry, 0) AS read_bytes,
        greatest(write_bytes_sum - lag(write_bytes_sum) OVER entry, 0) AS write_bytes,
        greatest(metadata - lag(metadata) OVER entry, 0) AS metadata
    FROM (SELECT c.*, :service_sums AS service_time, :service_counts AS calls, :metadata_calls AS metadata FROM counters c
        WHERE job = :job) c
    WINDOW entry AS (PARTITION BY target, entry ORDER BY "time")
) c GROUP BY 1;
