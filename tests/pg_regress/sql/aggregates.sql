-- The aggregates and their types: counters, densities, and the joules of jobs. Tests of core have their laws.
\i store.sql
\set ECHO all
\pset null '(null)'
CREATE TABLE readings (series text, "time" timestamptz, value bigint, start_time timestamptz);
INSERT INTO readings VALUES
    -- 50, then 40 after a reset, then 20.
    ('irregular', '2025-11-03 08:00', 100, NULL),
    ('irregular', '2025-11-03 08:10', 150, NULL),
    ('irregular', '2025-11-03 08:20', 40, NULL),
    ('irregular', '2025-11-03 08:30', 60, NULL),
    -- A new epoch that has counted more than the old one when it is read: 150, then 10.
    ('larger', '2025-11-03 08:00', 100, '2025-11-03 07:00'),
    ('larger', '2025-11-03 08:10', 150, '2025-11-03 08:01'),
    ('larger', '2025-11-03 08:20', 160, '2025-11-03 08:01'),
    -- Not there at 8:00, which is a reading of zero: 30, then 5.
    ('born', '2025-11-03 08:00', 0, NULL),
    ('born', '2025-11-03 08:10', 30, '2025-11-03 08:04'),
    ('born', '2025-11-03 08:20', 35, '2025-11-03 08:04');

-- The examples of jobstats_counter_agg() and jobstats_rollup().
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

-- Increases by bucket add up, if each is counted from the bucket before: every two minutes 10 more, and one reading per bucket.
CREATE TABLE buckets AS
SELECT 'steady' AS series, timestamptz '2025-11-03 08:00' + n * interval '2 minutes' AS "time", 1000 + 10 * n AS value FROM generate_series(0, 14) n
UNION ALL SELECT 'sparse', t, v FROM (VALUES (timestamptz '2025-11-03 08:05', 100), ('2025-11-03 08:15', 150), ('2025-11-03 08:25', 40), ('2025-11-03 09:35', 60)) r (t, v);
CREATE TABLE counters AS
SELECT series, date_bin('10 minutes', "time", '2025-11-03') AS bucket, jobstats_counter_agg("time", value) AS counter FROM buckets GROUP BY 1, 2;
SELECT series, bucket::time(0), jobstats_counter_increase(counter) AS alone, jobstats_counter_increase(counter, previous) AS increase,
    round(jobstats_counter_rate(counter, previous)::numeric, 6) AS rate, jobstats_counter_resets(counter, previous) AS resets,
    jobstats_counter_elapsed(counter, previous) AS elapsed
FROM (SELECT *, lag(counter) OVER (PARTITION BY series ORDER BY bucket) AS previous FROM counters) buckets
ORDER BY series, bucket;
SELECT series, sum(increase) AS increase, jobstats_counter_increase(jobstats_rollup(counter ORDER BY bucket DESC)) AS whole
FROM (SELECT *, jobstats_counter_increase(counter, lag(counter) OVER (PARTITION BY series ORDER BY bucket)) AS increase FROM counters) increases
GROUP BY series ORDER BY series;

-- A counter of limited width goes on with 0 after its largest value: 296 up to 2^32 and 100 beyond. Numbers are exact beyond bigint.
CREATE TABLE wrapping (series text, "time" timestamptz, value bigint);
INSERT INTO wrapping VALUES ('wraps', '2025-11-03', 4294967000), ('wraps', '2025-11-04', 100), ('large', '2025-11-03', 0),
    ('large', '2025-11-04', 9223372036854775807), ('large', '2025-11-05', 0), ('large', '2025-11-06', 9223372036854775807);
SELECT series, jobstats_counter_increase(jobstats_counter_agg("time", value, NULL, CASE series WHEN 'wraps' THEN 4294967296 END)) AS increase,
    jobstats_counter_increase(jobstats_counter_agg("time", value)) AS without_wraps_at
FROM wrapping GROUP BY series ORDER BY series;

-- NULL is passed over, and without any value there is no summary. One reading has no rate.
SELECT jobstats_counter_agg(t, v) FROM (VALUES (timestamptz '2025-11-03', NULL), (NULL, 5)) n (t, v);
SELECT jobstats_counter_increase(counter) AS increase, jobstats_counter_rate(counter) AS rate, jobstats_counter_rate(counter, NULL) AS of_null, jobstats_counter_increase(NULL, counter) AS without
FROM (SELECT jobstats_counter_agg(t, v) AS counter FROM (VALUES (timestamptz '2025-11-03', 7), ('2025-11-04', NULL)) n (t, v)) single;
SELECT jobstats_rollup(NULL::jobstats_counter) AS counter, jobstats_rollup(NULL::jobstats_density) AS density, jobstats_density_agg(NULL) AS of_null,
    jobstats_density_agg(1, NULL) AS no_base, jobstats_density_count(NULL) AS count, (SELECT count(*) FROM jobstats_density_buckets(NULL)) AS rows;

-- As window functions, also where the frame moves.
SELECT n, jobstats_counter_increase(jobstats_counter_agg(t, n) OVER (ORDER BY t ROWS 2 PRECEDING)) AS moving,
    jobstats_counter_increase(jobstats_counter_agg(t, n) OVER (ORDER BY t DESC)) AS backwards,
    jobstats_counter_increase(jobstats_rollup(jobstats_counter_agg(t, n)) OVER (ORDER BY t)) AS rollup,
    jobstats_density_agg(n) OVER (ORDER BY t ROWS 1 PRECEDING) AS density
FROM generate_series(1, 4) n, LATERAL (SELECT timestamptz '2025-11-03' + n * n * interval '1 s' AS t) times
GROUP BY n, t
ORDER BY n;
-- In groups by the thousand.
SELECT count(*) AS groups, sum(jobstats_counter_increase(counter)) AS increase, sum(jobstats_density_count(density)) AS count
FROM (
    SELECT jobstats_counter_agg('2025-11-03'::timestamptz + n * interval '1 s', n) AS counter, jobstats_density_agg(n) AS density
    FROM generate_series(1, 50000) n GROUP BY n % 5000
) groups;
-- More than half a million later readings are not kept.
SELECT jobstats_counter_agg('2025-11-03'::timestamptz + (n % 1100000) * interval '1 second', n) FROM generate_series(1, 1100001) n;
\echo :LAST_ERROR_SQLSTATE

-- The examples of jobstats_density_agg().
CREATE TABLE rates (hour integer, username text, rate double precision);
INSERT INTO rates VALUES
    (8, 'ada', 0.5), (8, 'bob', 12), (8, 'carl', 1000), (8, 'dora', 0), (8, 'emil', 3),
    (9, 'ada', 999.99), (9, 'bob', 10), (9, 'carl', 0), (9, 'dora', 0.001), (9, 'emil', 4);
SELECT hour, bucket, lower, upper, count
FROM (SELECT hour, jobstats_density_agg(rate) AS density FROM rates GROUP BY hour) densities, jobstats_density_buckets(density)
ORDER BY hour, bucket;
SELECT hour, jobstats_density_count(density) AS count, jobstats_density_zeros(density) AS zeros, density
FROM (SELECT hour, jobstats_density_agg(rate) AS density FROM rates GROUP BY hour) densities
ORDER BY hour;
WITH found AS (SELECT b.* FROM (SELECT jobstats_density_agg(rate) AS density FROM rates WHERE hour = 9) d, jobstats_density_buckets(density) b)
SELECT bucket, coalesce(count, 0) AS count
FROM generate_series((SELECT min(bucket) FROM found), (SELECT max(bucket) FROM found)) bucket
LEFT JOIN found USING (bucket)
ORDER BY bucket;
SELECT jobstats_rollup(density) = (SELECT jobstats_density_agg(rate) FROM rates) AS same
FROM (SELECT jobstats_density_agg(rate ORDER BY rate DESC) AS density FROM rates GROUP BY hour) parts;
-- In another base, a density that is stored out of line.
SELECT b.* FROM (SELECT jobstats_density_agg(n, 2) AS density FROM generate_series(0, 5) n) d, jobstats_density_buckets(density) b ORDER BY bucket;

-- A table of both types is dumped and restored, as text and binary.
CREATE TABLE stored AS
SELECT series, jobstats_counter_agg("time", value, start_time, w) AS counter, NULL::jobstats_density AS density
FROM readings, (VALUES (NULL), (4294967296)) w (w) GROUP BY series, w
UNION ALL SELECT 'large', NULL, jobstats_density_agg(power(2::float8, n) * (1 + m), 2) FROM generate_series(-1000, 1000) n, generate_series(0, 1) m;
SELECT counter FROM stored WHERE series = 'born';
SELECT pg_column_size(density) > 2000 AS large, jobstats_density_count(density) AS count FROM stored WHERE series = 'large';
SELECT current_setting('data_directory') || '/aggregates.copy' AS file \gset
CREATE TABLE restored (LIKE stored);
COPY stored TO :'file';
COPY restored FROM :'file';
COPY stored TO :'file' (FORMAT binary);
COPY restored FROM :'file' (FORMAT binary);
SELECT s.series, count(*) AS copies FROM stored s JOIN restored r
ON (r.series, r.counter::text, r.density::text) IS NOT DISTINCT FROM (s.series, s.counter::text, s.density::text)
WHERE r.counter = s.counter OR r.density = s.density GROUP BY s.series ORDER BY s.series;
SELECT a.series, b.series FROM stored a JOIN stored b ON a.counter <> b.counter WHERE a.series = b.series AND a.counter::text < b.counter::text ORDER BY 1;
-- Bytes that are no summary are refused where they come in, and are an error where they are stored.
CREATE TABLE bytes AS SELECT 'x' AS series, '\x0102'::bytea AS counter, '\x0102'::bytea AS density;
COPY bytes (series, counter) TO :'file' (FORMAT binary);
COPY restored (series, counter) FROM :'file' (FORMAT binary);
\echo :LAST_ERROR_SQLSTATE
COPY restored (series, density) FROM :'file' (FORMAT binary);
\echo :LAST_ERROR_SQLSTATE
CREATE CAST (bytea AS jobstats_counter) WITHOUT FUNCTION;
CREATE CAST (bytea AS jobstats_density) WITHOUT FUNCTION;
SELECT jobstats_counter_increase(counter::jobstats_counter) FROM bytes;
\echo :LAST_ERROR_SQLSTATE
SELECT density::jobstats_density FROM bytes;
\echo :LAST_ERROR_SQLSTATE

-- The joules of nodes go round at their maximum: n01 takes 200 W in its processor and 20 W in memory, n02, which a monitoring server
-- reports, 120 W, and restarts in minute 33.
\set VERBOSITY terse
DO $$ BEGIN PERFORM jobstats_setup(retention => '100 years', raw_retention => '100 years', compress_after => '100 years', metrics => '{node_rapl_*,jobstats_node_*}'); END $$;
UPDATE jobstats.settings SET jobs_retention = '100 years';
UPDATE texts.clock SET zero = '2025-11-03 08:00+00';
CREATE FUNCTION meter(server text, minute numeric, body text) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (server, "time", body, source) VALUES (server, at(minute), body, 'openmetrics')
$$;
CREATE FUNCTION run(job integer, started numeric, ended numeric, nodes integer, list text) RETURNS text LANGUAGE sql AS $$
SELECT concat_ws('|', job, job, 'alpha', extract(epoch FROM at(0))::bigint, extract(epoch FROM at(started))::bigint,
    coalesce(extract(epoch FROM at(ended))::bigint::text, 'Unknown'), CASE WHEN ended IS NULL THEN 'RUNNING' ELSE 'COMPLETED' END, nodes, list) || E'\n'
$$;
CREATE FUNCTION joules(first integer, last integer) RETURNS TABLE (job integer, joules numeric, watts double precision) LANGUAGE sql AS $$
SELECT j.job, u.total, u.rate FROM generate_series(first, last) j (job) LEFT JOIN LATERAL jobstats_job_usage(j.job::text, '') u ON u.operation = 'energy' ORDER BY j.job
$$;
SELECT count(*) FROM generate_series(0, 59) m, meter('n01.site', m, format(E'# TYPE node_rapl_package_joules_total counter
node_rapl_package_joules_total{index="0",path="/sys/0"} %s\nnode_rapl_package_joules_max{path="/sys/0"} 262144
node_rapl_dram_joules_total{path="/sys/0:0"} %s\nnode_rapl_dram_joules_max{path="/sys/0:0"} 65536\n', (260000 + m * 12000) % 262144, (65000 + m * 1200) % 65536)) n01,
    meter('mon', m, format(E'node_rapl_package_joules_max 262144
node_rapl_package_joules_total{instance="n02.site:9100"} %s\n', CASE WHEN m < 33 THEN 100000 + m * 7200 ELSE m * 7200 END % 262144)) n02;
-- 31 ran twice, 32 and 33 at the same time on n01, 34 while n02 restarted, 35 and 36 on a node without a meter, 37 for a minute; 38 runs, and
-- 39 ended at once.
INSERT INTO jobstats.feed (server, "time", body, source)
SELECT 'slurm1', at(70), translate(E'JobIDRaw|JobID|Cluster|Submit|Start|End|State|NNodes|NodeList\n' || string_agg(run(job, started, ended, nodes, list), ''), '|', chr(31)), 'slurm'
FROM (VALUES (31, 5, 15, 2, 'n[01-02]'), (31, 15.5, 25.5, 1, 'n01'), (32, 26, 38, 1, 'n01'), (33, 30, 38, 1, 'n01'), (34, 28, 38, 1, 'n02'),
    (35, 10, 30, 1, 'n03'), (36, 16, 26, 2, 'n[02-03]'), (37, 38.25, 39.25, 1, 'n01'), (38, 40, NULL, 1, 'n02'), (39, 20, 20, 1, 'None assigned'),
    (41, 5, 15, 1, 'n10'), (42, 15, 35, 1, 'n30'), (43, 4, 14, 1, 'n30'), (44, 4, 14, 1, 'n110')) r (job, started, ended, nodes, list);
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', at(o.minute), ost('scratch-OST0000', (SELECT string_agg(record(job || ':1000:n01', o.minute::integer, o.minute * 1000000000::bigint), '' ORDER BY job)
    FROM generate_series(31, 38) AS job))
FROM generate_series(0, 60, 10) AS o (minute);
CALL jobstats_maintain();
SELECT runs, run_time, nodes, write_bytes, energy FROM jobstats_job('31');
SELECT "time", operation, total, rate, nodes FROM jobstats_job_usage('31', '') WHERE operation IN ('write_bytes', 'energy', 'energy_per_gb');
SELECT operation, total, rate FROM jobstats_job_usage('31', '', since => at(5), until => at(15)) WHERE operation LIKE 'energy%';
SELECT * FROM joules(32, 38);
-- A counter that does not grow while the job runs is broken (41, 42). One minute of ten is short enough (44).
SELECT count(*) FROM generate_series(0, 59) m, unnest(ARRAY[0, 20, 100]) works, LATERAL (SELECT 'n' || 10 + works AS node) n,
    meter(node, m, format(E'jobstats_node_joules_total %s\n', 1000000 + 18000 * CASE WHEN works < 100 THEN least(m, works) WHEN m > 8 THEN m - 1 ELSE m END));
SELECT * FROM joules(41, 44);
-- A meter of the whole node counts alone.
SELECT count(*) FROM generate_series(0, 59) m, meter('n01.site', m, format(E'jobstats_node_joules_total %s\n', m * 18000));
SELECT * FROM joules(31, 31);
-- Where two servers report the same node, its energy is unknown.
SELECT count(*) FROM generate_series(0, 30) m, meter('other', m, format(E'jobstats_node_joules_total{instance="n01"} %s\n', m * 18000));
SELECT * FROM joules(31, 31);
-- An hour has few readings, however often a counter is read. They are dropped with their series.
SELECT count(*) FROM generate_series(0, 180, 10) s, meter('n04', s / 60.0, format(E'jobstats_node_joules_total %s\n', s * 100));
SELECT e.times, e.joules FROM jobstats.energy e JOIN jobstats.samples s USING (series_id) WHERE s.server = 'n04' ORDER BY e.bucket;
UPDATE jobstats.sample_series SET "time" = now() - interval '101 years';
SELECT jobstats_internal.forget_samples() > 0 AS forgotten;
SELECT count(*) FROM jobstats.energy;
