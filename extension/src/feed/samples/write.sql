@found@,
changed AS (
    UPDATE jobstats.sample_series series
    SET server = $2, "time" = found."time", value = found.value, counter = found.counter,
        since = CASE WHEN series.value = found.value THEN series.since ELSE found."time" END
    FROM found
    -- Values with a future time must not hide the current ones.
    WHERE series.series_id = found.series_id
        AND (series."time" < found."time" OR series."time" > clock_timestamp() AND found."time" <= clock_timestamp())
    RETURNING series.series_id, series."time", series.value, found.is_reset, found.node, found.joules
),
hours AS (
    INSERT INTO jobstats.samples_1h AS hour (series_id, bucket, min, max, sum, last, count)
    SELECT changed.series_id, date_bin(interval '1 hour', changed."time" - interval '1 microsecond', timestamptz '1970-01-01 00:00:00.000001+00'),
        changed.value, changed.value, changed.value, changed.value, 1
    FROM changed
    WHERE changed.value IS NOT NULL
    ON CONFLICT (series_id, bucket) DO UPDATE
    SET min = least(hour.min, EXCLUDED.min), max = greatest(hour.max, EXCLUDED.max), sum = hour.sum + EXCLUDED.sum,
        last = EXCLUDED.last, count = hour.count + 1
),
days AS (
    INSERT INTO jobstats.samples_1d AS day (series_id, bucket, min, max, sum, last, count)
    SELECT changed.series_id, date_bin(interval '1 day', changed."time" - interval '1 microsecond', timestamptz '1970-01-01 00:00:00.000001+00'),
        changed.value, changed.value, changed.value, changed.value, 1
    FROM changed
    WHERE changed.value IS NOT NULL
    ON CONFLICT (series_id, bucket) DO UPDATE
    SET min = least(day.min, EXCLUDED.min), max = greatest(day.max, EXCLUDED.max), sum = day.sum + EXCLUDED.sum,
        last = EXCLUDED.last, count = day.count + 1
),
read AS (
    SELECT changed.series_id, (round(changed.joules * 1000) / 1000)::real AS joules, changed."time",
        date_bin(interval '1 hour', changed."time" - interval '1 microsecond', timestamptz '1970-01-01 00:00:00.000001+00') AS bucket
    FROM changed
    WHERE changed.node IS NOT NULL
),
energy AS (
    INSERT INTO jobstats.energy AS hour (series_id, bucket, times, joules)
    SELECT read.series_id, read.bucket, ARRAY[(extract(epoch FROM read."time" - read.bucket) * 1000)::integer], ARRAY[read.joules]
    FROM read
    ON CONFLICT (series_id, bucket) DO UPDATE
    -- At most 240 readings per hour: a reading within 30 seconds of the last but one replaces the last.
    SET times = CASE WHEN EXCLUDED.times[1] < hour.times[cardinality(hour.times) - 1] + 30000 THEN trim_array(hour.times, 1) ELSE hour.times END
            || EXCLUDED.times,
        joules = CASE WHEN EXCLUDED.times[1] < hour.times[cardinality(hour.times) - 1] + 30000
            THEN trim_array(hour.joules, 1) || (hour.joules[cardinality(hour.joules)] + EXCLUDED.joules[1])
            ELSE hour.joules || EXCLUDED.joules END
)
SELECT (SELECT count(*) FROM found WHERE found.series_id IS NULL), count(*), count(*) FILTER (WHERE changed.is_reset) FROM changed
