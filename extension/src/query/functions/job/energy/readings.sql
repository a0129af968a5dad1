-- What counters of joules ($1) grew by between readings, by the hour, in a span.
SELECT hour.series_id, (extract(epoch FROM hour.bucket) * 1000000)::bigint - 1 AS start, hour.times::bigint[] AS times,
    hour.joules::double precision[] AS joules
FROM jobstats.energy hour
WHERE hour.series_id = ANY ($1) AND hour.bucket > $2 AND hour.bucket <= $3
ORDER BY hour.series_id, hour.bucket
