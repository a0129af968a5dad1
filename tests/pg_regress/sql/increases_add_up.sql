-- Increases per bucket add up to that of the whole, if each is counted from the bucket before.
CREATE EXTENSION jobstats;
\pset null '(null)'
CREATE TABLE readings (series text, "time" timestamptz, value bigint, start_time timestamptz);
-- Every two minutes 10 more: from 08:00 to 08:28 the counter grows by 140.
INSERT INTO readings
SELECT 'steady', timestamptz '2025-11-03 08:00' + n * interval '2 minutes', 1000 + 10 * n FROM generate_series(0, 14) n;
-- One reading per bucket: 50, then 40 after a reset, and after an hour without readings 20.
INSERT INTO readings VALUES
    ('sparse', '2025-11-03 08:05', 100, NULL),
    ('sparse', '2025-11-03 08:15', 150, NULL),
    ('sparse', '2025-11-03 08:25', 40, NULL),
    ('sparse', '2025-11-03 09:35', 60, NULL);
CREATE TABLE counters AS
SELECT series, date_bin('10 minutes', "time", '2025-11-03') AS bucket, jobstats_counter_agg("time", value, start_time) AS counter
FROM readings
GROUP BY 1, 2;

-- Alone, a bucket knows nothing of the step from the bucket before.
SELECT series, bucket::time(0), jobstats_counter_increase(counter) AS alone, jobstats_counter_increase(counter, previous) AS increase,
    round(jobstats_counter_rate(counter, previous)::numeric, 6) AS rate, jobstats_counter_resets(counter, previous) AS resets,
    jobstats_counter_elapsed(counter, previous) AS elapsed
FROM (SELECT *, lag(counter) OVER (PARTITION BY series ORDER BY bucket) AS previous FROM counters) buckets
ORDER BY series, bucket;
SELECT series, sum(alone) AS alone, sum(increase) AS increase, jobstats_counter_increase(jobstats_rollup(counter)) AS whole,
    sum(resets) AS resets, jobstats_counter_resets(jobstats_rollup(counter)) AS resets_of_whole,
    sum(elapsed) AS elapsed, jobstats_counter_elapsed(jobstats_rollup(counter)) AS elapsed_of_whole
FROM (
    SELECT series, counter, jobstats_counter_increase(counter) AS alone, jobstats_counter_increase(counter, previous) AS increase,
        jobstats_counter_resets(counter, previous) AS resets, jobstats_counter_elapsed(counter, previous) AS elapsed
    FROM (SELECT *, lag(counter) OVER (PARTITION BY series ORDER BY bucket) AS previous FROM counters) buckets
) increases
GROUP BY series
ORDER BY series;

-- Without a previous summary, as without the argument; without a counter, nothing.
SELECT jobstats_counter_increase(counter, NULL) AS increase, jobstats_counter_rate(counter, NULL) AS rate, jobstats_counter_resets(counter, NULL) AS resets,
    jobstats_counter_elapsed(counter, NULL) AS elapsed
FROM counters WHERE series = 'sparse' AND bucket = '2025-11-03 08:10';
SELECT jobstats_counter_increase(NULL, counter) AS increase, jobstats_counter_rate(NULL, counter) AS rate, jobstats_counter_resets(NULL, counter) AS resets,
    jobstats_counter_elapsed(NULL, counter) AS elapsed
FROM counters WHERE series = 'sparse' AND bucket = '2025-11-03 08:10';
SELECT jobstats_counter_increase(NULL, NULL) AS increase, jobstats_counter_rate(NULL, NULL) AS rate, jobstats_counter_resets(NULL, NULL) AS resets,
    jobstats_counter_elapsed(NULL, NULL) AS elapsed;

-- A previous summary ends before the other begins: not the same, none that shares a reading, none that is later.
SELECT jobstats_counter_increase(counter, counter) FROM counters WHERE series = 'sparse';
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_counter_rate(jobstats_counter_agg("time", value) FILTER (WHERE value >= 1040),
    jobstats_counter_agg("time", value) FILTER (WHERE value <= 1040))
FROM readings WHERE series = 'steady';
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_counter_resets(counter, lag(counter) OVER (PARTITION BY series ORDER BY bucket DESC)) FROM counters;
\echo :LAST_ERROR_SQLSTATE
-- Of another series, as without PARTITION BY.
SELECT jobstats_counter_elapsed(counter, lag(counter) OVER (ORDER BY series, bucket)) FROM counters;
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_counter_increase(counter, jobstats_counter_agg('2025-11-03 07:00', 5, NULL, 4294967296))
FROM counters WHERE series = 'sparse' AND bucket = '2025-11-03 08:10' GROUP BY counter;
\echo :LAST_ERROR_SQLSTATE

-- Within a life a counter cannot fall. Where its values do, a bucket counts from what the bucket before has seen: the sum is
-- larger than the increase of the whole, which is 0.
INSERT INTO readings VALUES
    ('falling', '2025-11-03 08:05', 100, '2025-11-03 07:00'),
    ('falling', '2025-11-03 08:15', 90, '2025-11-03 07:00'),
    ('falling', '2025-11-03 08:25', 95, '2025-11-03 07:00');
SELECT jobstats_counter_increase(jobstats_rollup(counter)) AS whole, sum(increase) AS increase
FROM (
    SELECT counter, jobstats_counter_increase(counter, lag(counter) OVER (ORDER BY bucket)) AS increase
    FROM (
        SELECT "time" AS bucket, jobstats_counter_agg("time", value, start_time) AS counter
        FROM readings WHERE series = 'falling' GROUP BY "time"
    ) buckets
) increases;
