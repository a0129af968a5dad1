-- A counter of limited width goes on with 0 after its largest value.
CREATE EXTENSION jobstats;
\pset null '(null)'
CREATE TABLE readings (series text, "time" timestamptz, value bigint, start_time timestamptz);
INSERT INTO readings VALUES
    -- 296 up to 2^32 and 100 beyond; then 50.
    ('wraps', '2025-11-03 08:00', 4294967000, NULL),
    ('wraps', '2025-11-03 08:10', 100, NULL),
    ('wraps', '2025-11-03 08:20', 150, NULL),
    -- 396 in one life, and 150 in the next.
    ('restarts', '2025-11-03 08:00', 4294967000, '2025-11-03 07:00'),
    ('restarts', '2025-11-03 08:10', 100, '2025-11-03 07:00'),
    ('restarts', '2025-11-03 08:20', 150, '2025-11-03 08:15');

SELECT series, jobstats_counter_increase(counter) AS increase, jobstats_counter_resets(counter) AS resets, jobstats_counter_first(counter) AS first,
    jobstats_counter_last(counter) AS last, jobstats_counter_increase(without) AS without_wraps_at, jobstats_counter_resets(without) AS resets_without
FROM (
    SELECT series, jobstats_counter_agg("time", value, start_time, 4294967296) AS counter,
        jobstats_counter_agg("time", value, start_time) AS without
    FROM readings GROUP BY series
) counters
ORDER BY series;
-- NULL never wraps.
SELECT jobstats_counter_agg("time", value, start_time, NULL) = jobstats_counter_agg("time", value, start_time) AS same
FROM readings WHERE series = 'restarts';
-- The largest value is followed by zero, up to the end of bigint.
SELECT jobstats_counter_increase(jobstats_counter_agg(t, v, NULL, 9223372036854775807)) AS increase
FROM (VALUES (timestamptz '2025-11-03', 9223372036854775806), ('2025-11-04', 0)) largest (t, v);

-- Over a wrap, summaries merge and increases add up, in any order.
CREATE TABLE counters AS
SELECT series, "time" AS bucket, jobstats_counter_agg("time", value, start_time, 4294967296) AS counter
FROM readings GROUP BY 1, 2;
SELECT series, jobstats_rollup(counter ORDER BY bucket DESC) = (
        SELECT jobstats_counter_agg("time", value, start_time, 4294967296) FROM readings r WHERE r.series = c.series
    ) AS as_the_whole,
    sum(increase) AS increase, sum(resets) AS resets
FROM (
    SELECT *, jobstats_counter_increase(counter, lag(counter) OVER each) AS increase, jobstats_counter_resets(counter, lag(counter) OVER each) AS resets
    FROM counters WINDOW each AS (PARTITION BY series ORDER BY bucket)
) c
GROUP BY series
ORDER BY series;

-- Text and bytes have a version of their own, which later versions read too; the version of other counters has not changed.
SELECT series, jobstats_rollup(counter) AS counter FROM counters GROUP BY series ORDER BY series;
SELECT regexp_replace(encode(jobstats_internal.counter_send(jobstats_rollup(counter)), 'hex'), '(.{16})', E'\\1 ', 'g') AS bytes
FROM counters WHERE series = 'restarts';
SELECT jobstats_counter_increase('v2 increase=396 resets=0 first=1762156800.000000:4294967000 last=1762157400.000000:100 wraps_at=4294967296') AS increase,
    jobstats_counter_increase('v1 increase=100 resets=1 first=1762156800.000000:4294967000 last=1762157400.000000:100 known=100 peak=4294967000 turn=1762157400.000000:100') AS of_version_1;
SELECT 'v2 increase=396 resets=0 first=1762156800.000000:4294967296 last=1762157400.000000:100 wraps_at=4294967296'::jobstats_counter;
\echo :LAST_ERROR_SQLSTATE
SELECT 'v2 increase=396 resets=0 first=1762156800.000000:4294967000 last=1762157400.000000:100'::jobstats_counter;
\echo :LAST_ERROR_SQLSTATE
-- A table with summaries of both versions is dumped and restored, as text and binary.
SELECT current_setting('data_directory') || '/wraps.copy' AS file \gset
CREATE TABLE stored AS
SELECT series, jobstats_counter_agg("time", value, start_time) AS counter FROM readings GROUP BY series
UNION ALL
SELECT series, jobstats_counter_agg("time", value, start_time, 4294967296) FROM readings GROUP BY series;
CREATE TABLE restored (LIKE stored);
COPY stored TO :'file';
COPY restored FROM :'file';
COPY stored TO :'file' (FORMAT binary);
COPY restored FROM :'file' (FORMAT binary);
SELECT series, counter::text ~ '^v2' AS wraps, count(*) AS copies, counter IN (SELECT s.counter FROM stored s) AS same
FROM restored GROUP BY series, counter ORDER BY 1, 2;

-- Errors.
SELECT jobstats_counter_agg("time", value, start_time, 4294967000) FROM readings;
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_counter_agg("time", value, start_time, 0) FROM readings;
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_counter_agg("time", value, start_time, -1) FROM readings;
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_counter_agg("time", value, start_time, 4294967296 + value) FROM readings WHERE series = 'wraps';
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_counter_agg("time", value, start_time, nullif(4294967296, 4294967196 + value)) FROM readings WHERE series = 'wraps';
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_rollup(counter)
FROM (SELECT jobstats_counter_agg("time", value, start_time, 4294967296 + value) AS counter FROM readings GROUP BY "time", value) moduli;
\echo :LAST_ERROR_SQLSTATE
