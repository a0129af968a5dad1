-- totals of all targets
-- ours
SELECT name, operation, total, calls, per_call, coverage
FROM jobstats_totals(:since, :until, 'service_time,read_bytes,write_bytes,metadata', 'target');
-- by hand
WITH done AS (
    SELECT i.target_id, sum(i.service_usecs) AS usecs, sum(i.service_calls) AS calls, sum(i.read_bytes) AS read_bytes,
        sum(i.read) AS read, sum(i.write_bytes) AS write_bytes, sum(i.write) AS write, sum(i.metadata) AS metadata,
        sum(i.metadata_usecs) AS metadata_usecs
    FROM jobstats.rollup_1d_users i WHERE i.bucket > :since AND i.bucket <= :until GROUP BY 1
)
SELECT t.name, o.operation, o.total, o.calls, CASE WHEN o.calls >= 10 THEN o.spent / o.calls END, trunc((x.seconds / 86400)::numeric, 4)
FROM jobstats.targets t JOIN seen(:since, :until, '1 day') x USING (target_id) JOIN done d USING (target_id)
CROSS JOIN LATERAL (VALUES
    ('service_time', coalesce(d.usecs, 0) / 1e6, coalesce(d.calls, 0), d.usecs / 1e6),
    ('read_bytes', coalesce(d.read_bytes, 0), coalesce(d.read, 0), d.read_bytes),
    ('write_bytes', coalesce(d.write_bytes, 0), coalesce(d.write, 0), d.write_bytes),
    ('metadata', CASE WHEN t.kind = 'MDT' THEN coalesce(d.metadata, 0) ELSE 0 END,
        CASE WHEN t.kind = 'MDT' THEN coalesce(d.metadata, 0) ELSE 0 END, d.metadata_usecs / 1e6)) o (operation, total, calls, spent);
-- lag()
SELECT target, sum(service_time) / 1e6, sum(calls), sum(read_bytes), sum(write_bytes), sum(metadata)
FROM (
    SELECT target, greatest(service_time - lag(service_time) OVER entry, 0) AS service_time,
        greatest(calls - lag(calls) OVER entry, 0) AS calls,
        greatest(read_bytes_sum - lag(read_bytes_sum) OVER entry, 0) AS read_bytes,
        greatest(write_bytes_sum - lag(write_bytes_sum) OVER entry, 0) AS write_bytes,
        greatest(metadata - lag(metadata) OVER entry, 0) AS metadata
    FROM (SELECT c.*, :service_sums AS service_time, :service_counts AS calls, :metadata_calls AS metadata FROM counters c
        WHERE "time" > :since AND "time" <= :until) c
    WINDOW entry AS (PARTITION BY target, entry ORDER BY "time")
) c GROUP BY 1;
