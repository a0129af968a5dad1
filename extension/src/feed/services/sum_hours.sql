-- Sums the hours of services ($3) of a server ($1, $2) anew that lie in ($4, $5]. No row of increments lies in two hours.
INSERT INTO jobstats.server_hours AS hour (bucket, cluster, server, service, observed_usecs, requests, wait_usecs, depth, active)
SELECT date_bin(interval '1 hour', increment."time" - interval '1 microsecond', timestamptz '1970-01-01 00:00:00+00') + interval '1 microsecond',
    $1, $2, increment.service, (sum(extract(epoch FROM increment."time" - increment.since)) * 1000000)::bigint,
    sum(increment.requests)::bigint, sum(increment.wait_usecs)::bigint, sum(increment.depth)::bigint, sum(increment.active)::bigint
FROM jobstats.server_increments increment
WHERE increment.cluster = $1 AND increment.server = $2 AND increment.service = ANY ($3)
    AND increment."time" > $4 AND increment."time" <= $5
GROUP BY 1, increment.service
ON CONFLICT (cluster, server, service, bucket) DO UPDATE
SET (observed_usecs, requests, wait_usecs, depth, active)
    = (EXCLUDED.observed_usecs, EXCLUDED.requests, EXCLUDED.wait_usecs, EXCLUDED.depth, EXCLUDED.active)
