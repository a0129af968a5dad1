-- rates of all targets at 10 minutes, of compute nodes
-- ours
SELECT "time", name, operation, rate, coverage
FROM jobstats_rates(:since, :until, 'read_bytes,write_bytes,metadata', 'target', '10 minutes', filter => 'node=r*');
-- by hand
WITH done AS (
    SELECT i.target_id, i.bucket - interval '1 microsecond' AS step, sum(i.read_bytes) AS read_bytes,
        sum(i.write_bytes) AS write_bytes, sum(:metadata) AS metadata
    FROM jobstats.rollup_10m i JOIN jobstats.entries e USING (entry_id)
    WHERE i.bucket > :since AND i.bucket <= :until AND e.node LIKE 'r%' GROUP BY 1, 2
)
SELECT s.step, t.name, o.operation, o.value / x.seconds, trunc(coalesce(x.seconds / 600, 0)::numeric, 4)
FROM jobstats.targets t
CROSS JOIN generate_series(:since, :until - interval '1 microsecond', '10 minutes') s (step)
LEFT JOIN seen(:since, :until, '10 minutes') x ON x.target_id = t.target_id AND x.step = s.step
LEFT JOIN done d ON d.target_id = t.target_id AND d.step = s.step
CROSS JOIN LATERAL (VALUES ('read_bytes', coalesce(d.read_bytes, 0)), ('write_bytes', coalesce(d.write_bytes, 0)),
    ('metadata', CASE WHEN t.kind = 'MDT' THEN coalesce(d.metadata, 0) ELSE 0 END)) o (operation, value);
-- lag()
SELECT date_bin('10 minutes', "time", :since), target, sum(read_bytes) / 600, sum(write_bytes) / 600, sum(metadata) / 600
FROM (
    SELECT "time", target,
        greatest(read_bytes_sum - lag(read_bytes_sum) OVER entry, 0) AS read_bytes,
        greatest(write_bytes_sum - lag(write_bytes_sum) OVER entry, 0) AS write_bytes,
        greatest(metadata - lag(metadata) OVER entry, 0) AS metadata
    FROM (SELECT c.*, :metadata_calls AS metadata FROM counters c
        WHERE "time" > :since AND "time" <= :until AND split_part(c.entry, ':', 3) LIKE 'r%') c
    WINDOW entry AS (PARTITION BY target, entry ORDER BY "time")
) c GROUP BY 1, 2;
