-- balance of bytes written
-- ours
SELECT target, rate, ratio, labels ->> 'workload', labels ->> 'uid', leader_share, coverage FROM jobstats_balance(:since, :until, filter => 'filesystem=puhti');
-- by hand
WITH done AS (
    SELECT i.target_id, e.workload, e.uid, sum(i.write_bytes) AS bytes
    FROM jobstats.rollup_1d i JOIN jobstats.entries e USING (entry_id)
    WHERE i.bucket > :since AND i.bucket <= :until GROUP BY 1, 2, 3
), target AS (
    SELECT t.target_id, t.name, t.kind, x.seconds, d.workload, d.uid, d.bytes, d.total, coalesce(d.total, 0) / x.seconds AS rate
    FROM jobstats.targets t JOIN seen(:since, :until, '1 day') x USING (target_id) LEFT JOIN (
        SELECT DISTINCT ON (d.target_id) d.*, sum(d.bytes) OVER (PARTITION BY d.target_id) AS total
        FROM done d WHERE d.bytes > 0 ORDER BY d.target_id, d.bytes DESC NULLS LAST, d.workload, d.uid
    ) d USING (target_id)
)
SELECT t.name, t.rate, t.rate / nullif(m.median, 0), t.workload, t.uid, round(t.bytes / t.total, 4), trunc((t.seconds / 86400)::numeric, 4)
FROM target t JOIN (
    SELECT t.kind, percentile_cont(0.5) WITHIN GROUP (ORDER BY t.rate) AS median FROM target t GROUP BY t.kind
) m USING (kind);
-- lag()
SELECT DISTINCT ON (target) target, sum(sum(bytes)) OVER (PARTITION BY target) / 86400, job, uid, sum(bytes)
FROM (
    SELECT target, job, uid, greatest(write_bytes_sum - lag(write_bytes_sum) OVER entry, 0) AS bytes
    FROM counters c WHERE "time" > :since AND "time" <= :until
    WINDOW entry AS (PARTITION BY target, entry ORDER BY "time")
) c GROUP BY target, job, uid ORDER BY target, sum(bytes) DESC NULLS LAST;
