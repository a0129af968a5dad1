-- Computes the baseline waits of a day ($1) from the hours of the 30 days before, for services known for a week.
INSERT INTO jobstats.baseline_waits (cluster, server, service, day, wait)
SELECT hour.cluster, hour.server, hour.service, ($1 AT TIME ZONE 'UTC')::date,
    percentile_cont(double precision '0.5') WITHIN GROUP (ORDER BY hour.wait_usecs::double precision / hour.requests / 1000000)
FROM jobstats.server_hours hour
WHERE hour.bucket > $1 - interval '720 hours' AND hour.bucket < $1 AND hour.requests > 0
    AND NOT EXISTS (SELECT FROM jobstats.baseline_waits known WHERE known.day = ($1 AT TIME ZONE 'UTC')::date)
GROUP BY hour.cluster, hour.server, hour.service
HAVING count(DISTINCT date_bin(interval '1 day', hour.bucket, timestamptz 'epoch')) >= 7
ON CONFLICT DO NOTHING
