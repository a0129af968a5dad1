-- The counts of services in the steps between edges ($1): the sums of hours that lie in one step, and shares of the rows of all
-- others: of increments in some spans ($2, $3), and of sums of hours in spans without increments ($4, $5).
WITH part AS (
    SELECT increment.cluster, increment.server, increment.service, increment.since, increment."time", increment.requests,
        increment.wait_usecs, increment.depth, (extract(epoch FROM increment."time" - increment.since) * 1000000)::bigint AS observed
    FROM unnest($2::timestamptz[], $3::timestamptz[]) AS span (low, high)
    JOIN jobstats.server_increments increment ON increment."time" > span.low AND increment."time" <= span.high
    UNION ALL
    SELECT hour.cluster, hour.server, hour.service, hour.bucket - interval '1 microsecond', hour.bucket + interval '3599.999999 seconds',
        hour.requests, hour.wait_usecs, hour.depth, hour.observed_usecs
    FROM unnest($4::timestamptz[], $5::timestamptz[]) AS span (low, high)
    JOIN jobstats.server_hours hour ON hour.bucket > span.low AND hour.bucket <= span.high
),
piece AS (
    -- A row ends in the step that includes its end, and begins in the step that excludes its start.
    SELECT part.*, generate_series(greatest(width_bucket(part.since, $1), 1),
        least(width_bucket(part."time" - interval '1 microsecond', $1), cardinality($1) - 1)) AS step
    FROM part
    WHERE part."time" > $1[1] AND part.since < $1[cardinality($1)]@conditions@
),
answer AS (
    SELECT sums.step, sums.cluster, sums.server, sums.service, sum(sums.requests) AS requests, sum(sums.wait_usecs) AS wait_usecs,
        sum(sums.depth) AS depth, sum(sums.observed) AS observed
    FROM (
        SELECT width_bucket(part.bucket, $1) AS step, part.cluster, part.server, part.service, part.requests, part.wait_usecs, part.depth,
            part.observed_usecs AS observed
        FROM jobstats.server_hours part
        WHERE part.bucket > $1[1] AND part.bucket <= $1[cardinality($1)]
            AND width_bucket(part.bucket, $1) = width_bucket(part.bucket + interval '3599.999998 seconds', $1)@conditions@
        UNION ALL
        SELECT piece.step, piece.cluster, piece.server, piece.service, @parts@
        FROM piece
    ) sums
    GROUP BY sums.step, sums.cluster, sums.server, sums.service
)
SELECT $1[answer.step] AS "time", answer.server, answer.service, answer.requests,
    (answer.wait_usecs / nullif(answer.requests, 0) / 1000000)::double precision AS wait,
    (answer.depth / nullif(answer.requests, 0))::double precision AS depth,
    (answer.wait_usecs / answer.observed)::double precision AS waiting, jsonb_build_object('server'::text, jobstats_internal.exactly(answer.server)) AS labels
FROM answer
WHERE answer.observed > 0
ORDER BY answer.step, answer.cluster, answer.server, answer.service
LIMIT 1000001
