-- The histograms of reads and writes, and sums for targets that print none.
WITH increment AS NOT MATERIALIZED (
    @usage@
),
call AS NOT MATERIALIZED (
    SELECT increment.target_id, increment.entry_id@of_increment@, increment.observed, increment.begins, increment.is_whole,
        increment.is_timed, brief.kept IS NULL AS has_detail, brief.kept IS DISTINCT FROM 'counts'::text AS keeps_histograms,
        operation.*
    FROM increment
    LEFT JOIN jobstats.observations brief ON brief.target_id = increment.target_id AND brief."time" = increment.observed
        AND brief."time" > @since@ AND brief.kept IS NOT NULL
    @join_servers@
    CROSS JOIN LATERAL (
        VALUES @operations@
    ) operation (operation, calls, bytes, hist, detail)
    -- Of a row that was divided, a part may have bytes or sizes of a call that counts in another part.
    WHERE operation.calls > 0 OR operation.bytes > 0 OR operation.hist IS NOT NULL
),
part AS (
    SELECT call.target_id@of_sum@, call.operation, call.keeps_histograms, count(call.hist) > 0 AS has_histogram,
        sum(call.calls) AS calls, sum(call.bytes) AS bytes, ARRAY[@elements@] AS elements
    FROM call
    GROUP BY call.target_id@of_sum@, call.operation, call.keeps_histograms
),
-- What each entry did between two observations that lie in the window. The sum of squares stands with the last part; without
-- it all calls were alike.
reading AS (
    SELECT call.target_id, call.entry_id@of_call@, call.operation, call.keeps_histograms, sum(call.calls) AS calls,
        sum(call.bytes) AS bytes,
        coalesce(sum((call.detail ->> 'sumsq'::text)::numeric), sum(call.bytes) * sum(call.bytes) / nullif(sum(call.calls), 0)) AS squares,
        bool_or(call.is_timed) AND bool_and(call.has_detail) AND sum(call.calls)
            * power(least(max((call.detail ->> 'max'::text)::numeric), sum(call.bytes), @largest@::numeric), 2::numeric)
            < 18446744073709551616 AS has_squares
    FROM call
    WHERE call.hist IS NULL
    GROUP BY call.target_id, call.entry_id@of_call@, call.operation, call.keeps_histograms, call.observed
    HAVING bool_and(call.is_whole) AND min(call.begins) > @since@
),
spread AS (
    SELECT reading.target_id@of_spread@, reading.operation, reading.keeps_histograms,
        sum(reading.calls) AS calls, sum(reading.bytes) AS bytes, sum(reading.squares) AS squares,
        bool_and(reading.has_squares) AS has_squares
    FROM reading
    GROUP BY reading.target_id@of_spread@, reading.operation, reading.keeps_histograms
),
usage AS (
    SELECT part.operation, part.calls, part.bytes, part.elements,
        bool_or(part.has_histogram) OVER (PARTITION BY part.target_id, part.operation, part.keeps_histograms) AS has_histogram,
        spread.calls AS spread_calls, spread.bytes AS spread_bytes, spread.squares, spread.has_squares@dimensions@
    FROM part
    JOIN jobstats.targets target ON target.target_id = part.target_id
    @entries@@jobs@@user_names@
    LEFT JOIN spread ON spread.target_id = part.target_id
        AND spread.operation = part.operation AND spread.keeps_histograms = part.keeps_histograms@same_key@
    WHERE true@conditions@
),
sums AS (
    SELECT usage.operation@names@, sum(usage.calls) AS calls, sum(usage.bytes) AS bytes, sum(usage.spread_calls) AS spread_calls,
        sum(usage.spread_bytes) AS spread_bytes, sum(usage.squares) AS squares, bool_and(usage.has_squares) AS has_squares
    FROM usage
    WHERE NOT usage.has_histogram
    GROUP BY usage.operation@names@
),
answer AS (
    SELECT usage.operation@names@, 'histogram'::text AS known_from,
        CASE WHEN element.number > 1 THEN 1::bigint << (element.number - 2)::integer ELSE 0 END AS lower,
        CASE WHEN element.number < @last@ THEN 1::bigint << (element.number - 1)::integer END AS upper, sum(element.count) AS count,
        NULL::double precision AS mean, NULL::double precision AS stddev
    FROM usage
    CROSS JOIN LATERAL unnest(usage.elements) WITH ORDINALITY element (count, number)
    WHERE usage.has_histogram AND element.count > 0
    GROUP BY usage.operation@names@, element.number
    UNION ALL
    SELECT usage.operation@names@, 'sums', NULL, NULL, usage.calls, (usage.bytes / usage.calls)::double precision,
        CASE WHEN usage.has_squares AND usage.spread_calls > 0 AND usage.squares * usage.spread_calls >= usage.spread_bytes * usage.spread_bytes
            THEN (sqrt(usage.squares * usage.spread_calls - usage.spread_bytes * usage.spread_bytes) / usage.spread_calls)::double precision END
    FROM sums usage
    WHERE usage.calls > 0
)
SELECT answer.operation@of_answer@, answer.known_from AS source, answer.lower, answer.upper, answer.count AS calls,
    (answer.count / sum(answer.count) OVER (PARTITION BY answer.operation@of_answer@))::double precision AS share, answer.mean,
    answer.stddev
FROM answer
ORDER BY @order@answer.operation, answer.known_from, answer.lower
LIMIT @limit@
