-- Writes snapshots of a server ($1, $2), including recomputed ones ($3), and increments ($4), and recomputes the hours of services
-- ($5) in ($6, $7]. No row of increments lies in two hours.
WITH readings AS (
    INSERT INTO jobstats.server_snapshots AS stored (cluster, server, service, "time", since, sums)
    SELECT $1, $2, said.service, timestamptz 'epoch' + said."time" * interval '1 microsecond',
        timestamptz 'epoch' + said.since * interval '1 microsecond', said.sums
    FROM jsonb_to_recordset($3::jsonb) AS said (service text, "time" bigint, since bigint, sums jsonb)
    ON CONFLICT (cluster, server, service, "time") DO UPDATE SET since = EXCLUDED.since, sums = EXCLUDED.sums
), new AS (
    INSERT INTO jobstats.server_increments (cluster, server, service, since, "time", requests, wait_usecs, depth, active)
    SELECT $1, $2, said.service, timestamptz 'epoch' + said.since * interval '1 microsecond',
        timestamptz 'epoch' + said."time" * interval '1 microsecond', said.requests, said.wait_usecs, said.depth, said.active
    FROM jsonb_to_recordset($4::jsonb)
        AS said (service text, since bigint, "time" bigint, requests bigint, wait_usecs bigint, depth bigint, active bigint)
    ON CONFLICT DO NOTHING
    RETURNING service, since, "time", requests, wait_usecs, depth, active
), increments AS (
    -- This reads the rows as they were before.
    SELECT stored.service, stored.since, stored."time", stored.requests, stored.wait_usecs, stored.depth, stored.active
    FROM jobstats.server_increments stored
    WHERE stored.cluster = $1 AND stored.server = $2 AND stored.service = ANY ($5) AND stored."time" > $6 AND stored."time" <= $7
    UNION ALL
    SELECT new.* FROM new WHERE new."time" > $6
)
INSERT INTO jobstats.server_hours AS hour (bucket, cluster, server, service, observed_usecs, requests, wait_usecs, depth, active)
SELECT date_bin(interval '1 hour', increment."time" - interval '1 microsecond', timestamptz '1970-01-01 00:00:00+00') + interval '1 microsecond',
    $1, $2, increment.service, (sum(extract(epoch FROM increment."time" - increment.since)) * 1000000)::bigint,
    sum(increment.requests)::bigint, sum(increment.wait_usecs)::bigint, sum(increment.depth)::bigint, sum(increment.active)::bigint
FROM increments increment
GROUP BY 1, increment.service
ON CONFLICT (cluster, server, service, bucket) DO UPDATE
SET (observed_usecs, requests, wait_usecs, depth, active)
    = (EXCLUDED.observed_usecs, EXCLUDED.requests, EXCLUDED.wait_usecs, EXCLUDED.depth, EXCLUDED.active)
