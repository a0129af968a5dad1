-- summary of all jobs
-- ours
SELECT labels ->> 'job', first, last_active, nodes, read_bytes, write_bytes, read, write, opens, metadata, service_time, busiest_target
FROM jobstats_summary(:since, :until);
-- by hand
WITH done AS (
    SELECT e.job, t.name AS target, min(i.first) AS first, max(i.last) AS last,
        sum(i.read_bytes) AS read_bytes, sum(i.write_bytes) AS write_bytes, sum(i.read) AS read, sum(i.write) AS write,
        sum(i.open) AS opens, sum(:metadata) FILTER (WHERE t.kind = 'MDT') AS metadata, sum(:service_time) AS usecs,
        sum(:service_calls) AS calls
    FROM jobstats.rollup_1d i JOIN jobstats.entries e USING (entry_id) JOIN jobstats.targets t USING (target_id)
    WHERE i.bucket > :since AND i.bucket <= :until GROUP BY 1, 2
)
SELECT d.job, min(d.first), max(d.last), n.nodes, coalesce(sum(d.read_bytes), 0), coalesce(sum(d.write_bytes), 0),
    coalesce(sum(d.read), 0), coalesce(sum(d.write), 0), coalesce(sum(d.opens), 0), coalesce(sum(d.metadata), 0),
    trim_scale(sum(d.usecs) / 1e6), (array_agg(d.target ORDER BY d.usecs DESC, d.calls DESC, d.target))[1]
FROM done d JOIN (
    SELECT e.job, count(e.node) AS nodes FROM (
        SELECT DISTINCT e.job, e.node FROM jobstats.rollup_1d i JOIN jobstats.entries e USING (entry_id)
        WHERE i.bucket > :since AND i.bucket <= :until
    ) e GROUP BY e.job
) n ON coalesce(n.job, '') = coalesce(d.job, '')
GROUP BY d.job, n.nodes;
-- lag()
SELECT job, min("time") FILTER (WHERE service_time > 0), max("time") FILTER (WHERE service_time > 0), count(DISTINCT entry),
    sum(read_bytes), sum(write_bytes), sum(metadata), sum(service_time) / 1e6
FROM (
    SELECT job, entry, "time", greatest(service_time - lag(service_time) OVER entry, 0) AS service_time,
        greatest(read_bytes_sum - lag(read_bytes_sum) OVER entry, 0) AS read_bytes,
        greatest(write_bytes_sum - lag(write_bytes_sum) OVER entry, 0) AS write_bytes,
        greatest(metadata - lag(metadata) OVER entry, 0) AS metadata
    FROM (SELECT c.*, :service_sums AS service_time, :metadata_calls AS metadata FROM counters c
        WHERE "time" > :since AND "time" <= :until) c
    WINDOW entry AS (PARTITION BY target, entry ORDER BY "time")
) c GROUP BY 1;
