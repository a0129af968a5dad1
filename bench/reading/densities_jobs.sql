-- density of jobs' bytes written in the day
-- ours
SELECT "time", bucket, lower, upper, count FROM jobstats_densities(:since, :until, 'write_bytes', 'job');
-- by hand
SELECT d.step, d.bucket, 10 ^ d.bucket, 10 ^ (d.bucket + 1), count(*) FROM (
    SELECT r.step, floor(log(r.rate))::integer AS bucket FROM (
        SELECT x.step, e.job, sum((coalesce(i.write_bytes, 0)) / x.seconds) AS rate
        FROM jobstats.rollup_1d i JOIN jobstats.entries e USING (entry_id)
        JOIN seen(:since, :until, '1 day') x ON x.target_id = i.target_id AND x.step = i.bucket - interval '1 microsecond'
        WHERE i.bucket > :since AND i.bucket <= :until GROUP BY 1, 2
    ) r WHERE r.rate > 0
) d GROUP BY 1, 2;
-- lag()
SELECT d.step, floor(log(d.rate)), count(*) FROM (
    SELECT date_bin('1 day', "time", :since) AS step, job, sum(value) / 86400 AS rate FROM (
        SELECT "time", job, greatest(value - lag(value) OVER entry, 0) AS value
        FROM (SELECT c.*, write_bytes_sum AS value FROM counters c WHERE "time" > :since AND "time" <= :until) c
        WINDOW entry AS (PARTITION BY target, entry ORDER BY "time")
    ) c GROUP BY 1, 2
) d WHERE d.rate > 0 GROUP BY 1, 2;
