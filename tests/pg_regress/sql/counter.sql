-- jobstats_counter_agg: by how much a counter grew.
CREATE EXTENSION jobstats;
\pset null '(null)'
CREATE TABLE readings (series text, "time" timestamptz, value bigint, start_time timestamptz);
INSERT INTO readings VALUES
    -- 50, then 40 after a reset, then 20.
    ('irregular', '2025-11-03 08:00', 100, NULL),
    ('irregular', '2025-11-03 08:10', 150, NULL),
    ('irregular', '2025-11-03 08:20', 40, NULL),
    ('irregular', '2025-11-03 08:30', 60, NULL),
    -- A new life that has counted more than the old one when it is read: 150, then 10.
    ('larger', '2025-11-03 08:00', 100, '2025-11-03 07:00'),
    ('larger', '2025-11-03 08:10', 150, '2025-11-03 08:01'),
    ('larger', '2025-11-03 08:20', 160, '2025-11-03 08:01'),
    -- Not there at 8:00, which is a reading of zero: 30, then 5.
    ('born', '2025-11-03 08:00', 0, NULL),
    ('born', '2025-11-03 08:10', 30, '2025-11-03 08:04'),
    ('born', '2025-11-03 08:20', 35, '2025-11-03 08:04');

SELECT series, "time"::time(0), value, start_time::time(0) FROM readings ORDER BY series, "time";
SELECT "time"::time(0), value, jobstats_counter_increase(jobstats_counter_agg("time", value) OVER (ORDER BY "time")) AS increase
FROM readings
WHERE series = 'irregular'
ORDER BY "time";

SELECT series, jobstats_counter_increase(counter) AS increase, round(jobstats_counter_rate(counter)::numeric, 6) AS rate,
    jobstats_counter_resets(counter) AS resets, jobstats_counter_elapsed(counter) AS elapsed, jobstats_counter_first(counter) AS first,
    jobstats_counter_last(counter) AS last
FROM (SELECT series, jobstats_counter_agg("time", value, start_time) AS counter FROM readings GROUP BY series) all_series
ORDER BY series;

-- Without its life, the larger value is no reset.
SELECT jobstats_counter_increase(jobstats_counter_agg("time", value)) AS increase FROM readings WHERE series = 'larger';

-- Within a life a counter cannot fall: what does counts for nothing, nor does making up for it.
SELECT jobstats_counter_increase(jobstats_counter_agg(t, v, '2025-11-03')) AS increase,
    jobstats_counter_resets(jobstats_counter_agg(t, v, '2025-11-03')) AS resets
FROM (VALUES (timestamptz '2025-11-03 08:00', 100), ('2025-11-03 08:01', 90), ('2025-11-03 08:02', 120)) falling (t, v);

-- By quarter of an hour, and of the whole, in which the steps from one to the next are, too.
SELECT coalesce(quarter::text, 'all') AS quarter, jobstats_counter_increase(counter) AS increase
FROM (
    SELECT quarter, jobstats_rollup(counter) AS counter
    FROM (
        SELECT date_bin('15 minutes', "time", '2025-11-03') AS quarter, jobstats_counter_agg("time", value) AS counter
        FROM readings WHERE series = 'irregular' GROUP BY 1
    ) parts
    GROUP BY ROLLUP (quarter)
) rollups
ORDER BY quarter;

-- The order of input does not matter, nor do rows with a NULL.
SELECT DISTINCT jobstats_counter_increase(counter) AS increase, counter
FROM (
    SELECT jobstats_counter_agg("time", value ORDER BY "time") AS counter FROM readings WHERE series = 'irregular'
    UNION ALL
    SELECT jobstats_counter_agg("time", value ORDER BY "time" DESC) FROM readings WHERE series = 'irregular'
    UNION ALL
    SELECT jobstats_counter_agg("time", value ORDER BY value) FROM readings WHERE series = 'irregular'
    UNION ALL
    SELECT jobstats_counter_agg("time", value) FROM (
        SELECT "time", value FROM readings WHERE series = 'irregular'
        UNION ALL VALUES (NULL::timestamptz, 1000), ('2025-11-03 08:15', NULL), (NULL, NULL)) more
) orders;

-- Of equal times the later life, then the larger value counts.
SELECT jobstats_counter_increase(jobstats_counter_agg(t, v, s)) AS increase, jobstats_counter_last(jobstats_counter_agg(t, v, s)) AS last
FROM (VALUES (timestamptz '2025-11-03 08:00', 5, NULL::timestamptz),
    ('2025-11-03 08:10', 90, NULL), ('2025-11-03 08:10', 80, '2025-11-03 07:00'), ('2025-11-03 08:10', 20, '2025-11-03 08:05'),
    ('2025-11-03 08:10', 30, '2025-11-03 08:05'), ('2025-11-03 08:10', 25, '2025-11-03 08:05')) tied (t, v, s);

-- Nothing, or nothing but NULL, has no summary; a single reading has no rate.
SELECT jobstats_counter_agg("time", value) AS nothing FROM readings WHERE false;
SELECT jobstats_counter_agg(NULL, value) AS nothing FROM readings;
SELECT jobstats_counter_increase(NULL), jobstats_counter_rate(NULL), jobstats_counter_resets(NULL), jobstats_counter_elapsed(NULL), jobstats_counter_first(NULL), jobstats_counter_last(NULL);
SELECT jobstats_counter_increase(counter) AS increase, jobstats_counter_rate(counter) AS rate, jobstats_counter_elapsed(counter) AS elapsed
FROM (SELECT jobstats_counter_agg("time", value) AS counter FROM readings WHERE value = 160) single;

-- Exact to the end of bigint, and beyond it with resets.
SELECT n, jobstats_counter_increase(jobstats_counter_agg(t, v) OVER (ORDER BY t)) AS increase
FROM (VALUES (1, 9007199254740993), (2, 9007199254740994), (3, 9223372036854775807), (4, 0), (5, 9223372036854775807)) large (n, v),
    LATERAL (SELECT timestamptz '2025-11-03' + n * interval '1 hour' AS t) times
ORDER BY n;
SELECT jobstats_counter_elapsed(jobstats_counter_agg(t, 1)) AS elapsed
FROM (VALUES (timestamptz '4713-01-01 BC'), ('294246-01-01')) times (t);

-- Errors.
SELECT jobstats_counter_agg(now(), -1);
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_counter_agg('infinity', 1);
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_counter_agg(now(), 1, '-infinity');
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_counter_agg('294260-01-01', 1);
\echo :LAST_ERROR_SQLSTATE
-- Not only of the first row.
SELECT jobstats_counter_agg(t, v) FROM (VALUES (timestamptz '2025-11-03', 1), ('2025-11-04', -1)) rows (t, v);
SELECT jobstats_counter_agg(t, v) FROM (VALUES (timestamptz '2025-11-03', 1), ('infinity', 2)) rows (t, v);
SELECT jobstats_counter_agg(t, 1, s) FROM (VALUES (timestamptz '2025-11-03', timestamptz '2025-11-02'), ('2025-11-04', '-infinity')) rows (t, s);

-- More than half a million later readings are not kept.
\set VERBOSITY terse
SELECT jobstats_counter_increase(jobstats_counter_agg('2025-11-03'::timestamptz + n * interval '1 second', n)) AS increase
FROM generate_series(1, 1100000) n;
SELECT jobstats_counter_agg('2025-11-03'::timestamptz + (n % 1100000) * interval '1 second', n)
FROM generate_series(1, 1100001) n;
\echo :LAST_ERROR_SQLSTATE
\set VERBOSITY default

-- A rollup of summaries by hour, of any spans in any order, is that of the whole, with the steps from one to the next.
CREATE VIEW many AS
SELECT series, timestamptz '2025-11-03' + n * interval '7 minutes' AS "time",
    (n * n * (series + 3) % 1000)::bigint AS value,
    timestamptz '2025-11-02' + n * (series + 3) / 50 * interval '1 hour' AS start_time
FROM generate_series(0, 2) series, generate_series(0, 200) n;
CREATE TABLE hourly AS
SELECT series, date_trunc('hour', "time") AS hour, jobstats_counter_agg("time", value) AS counter,
    jobstats_counter_agg("time", value, CASE WHEN value % 3 > 0 THEN start_time END) AS of_lives
FROM many GROUP BY 1, 2;
SELECT series, parts, jobstats_counter_increase(rollup) AS increase, jobstats_counter_resets(rollup) AS resets,
    jobstats_counter_increase(rollup) = by_hand AS as_by_hand, alone < by_hand AS more_than_alone, rollup = whole AS same, jobstats_counter_increase(rollup_of_lives) AS increase_of_lives, rollup_of_lives = whole_of_lives AS same_of_lives
FROM (
    SELECT series, count(*) AS parts, jobstats_rollup(counter ORDER BY hash) AS rollup,
        sum(jobstats_counter_increase(counter)) AS alone, jobstats_rollup(of_lives ORDER BY hash) AS rollup_of_lives
    FROM (SELECT *, md5(hour::text) AS hash FROM hourly) shuffled GROUP BY series
) rollups
JOIN (
    SELECT series, jobstats_counter_agg("time", value) AS whole,
        jobstats_counter_agg("time", value, CASE WHEN value % 3 > 0 THEN start_time END) AS whole_of_lives,
        sum(CASE WHEN value < before THEN value ELSE value - before END) AS by_hand
    FROM (SELECT *, lag(value) OVER (PARTITION BY series ORDER BY "time") AS before FROM many) rows GROUP BY series
) wholes USING (series)
ORDER BY series;
-- Also one of rollups.
SELECT jobstats_rollup(part) = (SELECT jobstats_counter_agg("time", value) FROM many WHERE series = 1) AS same
FROM (SELECT jobstats_rollup(counter) AS part FROM hourly WHERE series = 1 GROUP BY hour > '2025-11-03 10:30') parts;
SELECT jobstats_rollup(counter) AS nothing FROM hourly WHERE false;
SELECT jobstats_rollup(NULL::jobstats_counter) AS nothing FROM hourly;
SELECT jobstats_rollup(counter) FROM hourly;
\echo :LAST_ERROR_SQLSTATE
-- Spans that share an end.
SELECT jobstats_rollup(counter)
FROM (SELECT jobstats_counter_agg("time", value) AS counter FROM readings WHERE series = 'irregular' AND "time" <= '2025-11-03 08:10'
    UNION ALL SELECT jobstats_counter_agg("time", value) FROM readings WHERE series = 'irregular' AND "time" >= '2025-11-03 08:10') spans;
\echo :LAST_ERROR_SQLSTATE

-- As a window function, also where the frame moves; in groups by the thousand.
SELECT n, jobstats_counter_increase(jobstats_counter_agg(t, n) OVER (ORDER BY t ROWS 2 PRECEDING)) AS moving,
    jobstats_counter_increase(jobstats_counter_agg(t, n) OVER (ORDER BY t DESC)) AS backwards,
    jobstats_counter_increase(jobstats_rollup(jobstats_counter_agg(t, n)) OVER (ORDER BY t)) AS rollup
FROM generate_series(1, 6) n, LATERAL (SELECT timestamptz '2025-11-03' + n * n * interval '1 s' AS t) times
GROUP BY n, t
ORDER BY n;
SELECT count(*) AS groups, sum(jobstats_counter_increase(counter)) AS increase
FROM (
    SELECT n % 5000 AS series, jobstats_counter_agg('2025-11-03'::timestamptz + n * interval '1 s', n) AS counter
    FROM generate_series(1, 50000) n GROUP BY 1
) groups;

-- Text and bytes, which later versions read too.
SELECT series, jobstats_counter_agg("time", value, start_time) AS counter FROM readings GROUP BY series ORDER BY series;
CREATE TABLE stored AS
SELECT series, jobstats_counter_agg("time", value, start_time) AS counter FROM readings GROUP BY series;
SELECT series, regexp_replace(encode(jobstats_internal.counter_send(counter), 'hex'), '(.{16})', E'\\1 ', 'g') AS bytes
FROM stored WHERE series = 'born';
SELECT 'v1 increase=1 resets=0 first=0.000000:1 last=1.500000:2 known=2 peak=1 turn=1.500000:2'::jobstats_counter AS counter;
SELECT 'v1 increase=-1 resets=0 first=0.000000:1 last=1.500000:2 known=2 peak=1 turn=1.500000:2'::jobstats_counter;
\echo :LAST_ERROR_SQLSTATE
SELECT 'v2'::jobstats_counter;
\echo :LAST_ERROR_SQLSTATE
SELECT ''::jobstats_counter;
\echo :LAST_ERROR_SQLSTATE

-- A table with summaries is dumped and restored, as text and binary.
SELECT current_setting('data_directory') || '/counter.copy' AS file \gset
CREATE TABLE restored (LIKE stored);
COPY stored TO :'file';
COPY restored FROM :'file';
COPY stored TO :'file' (FORMAT binary);
COPY restored FROM :'file' (FORMAT binary);
SELECT series, counter = ANY (SELECT r.counter FROM restored r WHERE r.series = s.series) AS same,
    (SELECT count(*) FROM restored r WHERE r.series = s.series) AS copies
FROM stored s ORDER BY series;
SELECT count(*) AS different FROM (SELECT DISTINCT counter FROM restored) summaries;
SELECT a.series, b.series FROM stored a JOIN stored b ON a.counter <> b.counter WHERE a.series < b.series ORDER BY 1, 2;

-- Bytes that are no summary are refused where they come in, and an error where they are stored.
CREATE TABLE bytes AS SELECT 'x' AS series, '\x0102'::bytea AS counter;
COPY bytes TO :'file' (FORMAT binary);
COPY restored FROM :'file' (FORMAT binary);
\echo :LAST_ERROR_SQLSTATE
CREATE CAST (bytea AS jobstats_counter) WITHOUT FUNCTION;
SELECT jobstats_counter_increase(counter::jobstats_counter) FROM bytes;
\echo :LAST_ERROR_SQLSTATE
SELECT counter::jobstats_counter FROM bytes;
\echo :LAST_ERROR_SQLSTATE
DROP CAST (bytea AS jobstats_counter);

-- The extension cannot go without the columns that hold summaries.
DROP TABLE restored, hourly;
DROP EXTENSION jobstats;
\echo :LAST_ERROR_SQLSTATE
SET client_min_messages = warning;
DROP EXTENSION jobstats CASCADE;
TABLE stored ORDER BY series;
CREATE EXTENSION jobstats;
SELECT jobstats_counter_increase(jobstats_counter_agg("time", value)) AS increase FROM readings WHERE series = 'irregular';
