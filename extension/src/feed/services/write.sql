-- Writes readings of a server ($1, $2), of which $3 has some that are compared anew, and increments ($4).
WITH readings AS (
    INSERT INTO jobstats.server_readings AS stored (cluster, server, service, "time", since, sums)
    SELECT $1, $2, said.service, timestamptz 'epoch' + said."time" * interval '1 microsecond',
        timestamptz 'epoch' + said.since * interval '1 microsecond', said.sums
    FROM jsonb_to_recordset($3::jsonb) AS said (service text, "time" bigint, since bigint, sums jsonb)
    ON CONFLICT (cluster, server, service, "time") DO UPDATE SET since = EXCLUDED.since, sums = EXCLUDED.sums
)
INSERT INTO jobstats.server_increments (cluster, server, service, since, "time", requests, wait_usecs, depth, active)
SELECT $1, $2, said.service, timestamptz 'epoch' + said.since * interval '1 microsecond',
    timestamptz 'epoch' + said."time" * interval '1 microsecond', said.requests, said.wait_usecs, said.depth, said.active
FROM jsonb_to_recordset($4::jsonb)
    AS said (service text, since bigint, "time" bigint, requests bigint, wait_usecs bigint, depth bigint, active bigint)
ON CONFLICT DO NOTHING
