-- Computes the baseline times of calls on a day ($1) from the hours of the 30 days before, for classes of calls known for a
-- week. $2: the mean sizes at which the classes begin, $3: the least number of calls of an hour, $4: the first class of writes.
INSERT INTO jobstats.baseline_calls (target_id, class, day, seconds_per_call)
SELECT hour.target_id, called.class, ($1 AT TIME ZONE 'UTC')::date,
    percentile_cont(double precision '0.5') WITHIN GROUP (ORDER BY called.usecs::double precision / called.calls / 1000000)
FROM jobstats.rollup_1h_targets hour
JOIN jobstats.targets target ON target.target_id = hour.target_id AND target.kind = 'OST'
CROSS JOIN LATERAL (
    SELECT kind.first + width_bucket(coalesce(kind.bytes, 0) / kind.calls, $2::bigint[]) AS class, kind.calls, kind.usecs
    FROM (VALUES (0, hour.read, hour.read_usecs, hour.read_bytes), ($4::integer, hour.write, hour.write_usecs, hour.write_bytes))
        AS kind (first, calls, usecs, bytes)
    WHERE kind.calls >= $3::bigint AND kind.usecs IS NOT NULL
) called
WHERE hour.bucket > $1 - interval '720 hours' AND hour.bucket < $1
    AND NOT EXISTS (SELECT FROM jobstats.baseline_calls known WHERE known.day = ($1 AT TIME ZONE 'UTC')::date)
GROUP BY hour.target_id, called.class
HAVING count(DISTINCT date_bin(interval '1 day', hour.bucket, timestamptz 'epoch')) >= 7
ON CONFLICT DO NOTHING
