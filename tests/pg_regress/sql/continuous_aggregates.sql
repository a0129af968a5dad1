-- Continuous aggregates of a user's own, with the statements of docs/continuous-aggregates.md.
SELECT coalesce(current_setting('timescaledb.license', true), '') = 'timescale' AS community \gset
\if :community
\else
\echo 'not run: continuous aggregates need the Community edition of TimescaleDB'
\quit
\endif
\i reading.sql
\set ECHO all
-- Counters of two hosts, read every two minutes. One of them has been booted in between.
CREATE TABLE readings ("time" timestamptz NOT NULL, host text NOT NULL, received bigint NOT NULL, booted timestamptz);
SELECT created FROM create_hypertable('readings', by_range('time', interval '1 day'));
INSERT INTO readings
SELECT timestamptz '2025-11-03 08:00' + n * interval '2 minutes', 'oss1', 1000000 + 1200 * n, timestamptz '2025-10-01 12:00'
FROM generate_series(0, 59) n
UNION ALL
SELECT timestamptz '2025-11-03 08:00' + n * interval '2 minutes', 'oss2', 5000000 + 2400 * n, '2025-10-01 12:00'
FROM generate_series(0, 29) n
UNION ALL
SELECT timestamptz '2025-11-03 09:00' + n * interval '2 minutes', 'oss2', 2400 + 2400 * n, '2025-11-03 08:59'
FROM generate_series(0, 29) n;

-- By ten minutes, and by hours from these.
CREATE MATERIALIZED VIEW received_10m
WITH (timescaledb.continuous, timescaledb.materialized_only = false, timescaledb.chunk_interval = '10 days') AS
SELECT time_bucket('10 minutes', "time") AS bucket, host, jobstats_counter_agg("time", received, booted) AS counter
FROM readings
GROUP BY 1, 2
WITH NO DATA;
CREATE MATERIALIZED VIEW received_1h
WITH (timescaledb.continuous, timescaledb.materialized_only = false, timescaledb.chunk_interval = '100 days') AS
SELECT time_bucket('1 hour', bucket) AS bucket, host, jobstats_rollup(counter) AS counter
FROM received_10m
GROUP BY 1, 2
WITH NO DATA;
CALL refresh_continuous_aggregate('received_10m', '2025-11-03 08:00', '2025-11-03 09:30');
CALL refresh_continuous_aggregate('received_1h', '2025-11-03 08:00', '2025-11-03 09:00');

-- Increases that add up: a view on top, and the increase of all readings.
CREATE VIEW received_hourly AS
SELECT bucket, host, jobstats_counter_increase(counter, previous) AS received, round(jobstats_counter_rate(counter, previous)) AS rate,
    jobstats_counter_resets(counter, previous) AS resets
FROM (SELECT bucket, host, counter, lag(counter) OVER (PARTITION BY host ORDER BY bucket) AS previous FROM received_1h) hours;
SELECT * FROM received_hourly ORDER BY host, bucket;
SELECT host, sum(received) AS by_hours,
    (SELECT jobstats_counter_increase(jobstats_counter_agg("time", r.received, booted)) FROM readings r WHERE r.host = h.host) AS of_all_readings
FROM received_hourly h
GROUP BY host
ORDER BY host;
-- A window needs the bucket before it too.
SELECT bucket, host, received
FROM (
    SELECT bucket, host, jobstats_counter_increase(counter, lag(counter) OVER (PARTITION BY host ORDER BY bucket)) AS received
    FROM received_1h
    WHERE bucket >= timestamptz '2025-11-03 09:00' - interval '1 hour'
) hours
WHERE bucket >= '2025-11-03 09:00'
ORDER BY host;
-- The same by ten minutes; alone, the buckets miss a fifth.
SELECT host, sum(jobstats_counter_increase(counter)) AS alone, sum(jobstats_counter_increase(counter, previous)) AS by_ten_minutes
FROM (SELECT *, lag(counter) OVER (PARTITION BY host ORDER BY bucket) AS previous FROM received_10m) buckets
GROUP BY host
ORDER BY host;

-- A reading after the last refresh is shown at once, unless only refreshed rows are requested.
INSERT INTO readings VALUES ('2025-11-03 10:02', 'oss1', 1074400, '2025-10-01 12:00');
SELECT * FROM received_hourly WHERE host = 'oss1' ORDER BY bucket;
ALTER MATERIALIZED VIEW received_1h SET (timescaledb.materialized_only = true);
SELECT * FROM received_hourly WHERE host = 'oss1' ORDER BY bucket;
ALTER MATERIALIZED VIEW received_1h SET (timescaledb.materialized_only = false);

-- A late reading, within refreshed buckets, waits for the next refresh of each level.
INSERT INTO readings VALUES ('2025-11-03 08:15', 'oss3', 500, NULL), ('2025-11-03 08:45', 'oss3', 700, NULL);
SELECT * FROM received_hourly WHERE host = 'oss3';
CALL refresh_continuous_aggregate('received_10m', '2025-11-03 08:00', '2025-11-03 09:30');
CALL refresh_continuous_aggregate('received_1h', '2025-11-03 08:00', '2025-11-03 09:00');
SELECT * FROM received_hourly WHERE host = 'oss3';

-- Columns.
ALTER MATERIALIZED VIEW received_10m
SET (timescaledb.enable_columnstore, timescaledb.segmentby = 'host', timescaledb.orderby = 'bucket');
SELECT count(compress_chunk(chunk)) AS chunks FROM show_chunks('received_10m') AS chunk;
-- Packed chunks have the same answers, also after a refresh that changes them.
INSERT INTO readings VALUES ('2025-11-03 08:55', 'oss3', 1000, NULL);
CALL refresh_continuous_aggregate('received_10m', '2025-11-03 08:00', '2025-11-03 10:00');
CALL refresh_continuous_aggregate('received_1h', '2025-11-03 08:00', '2025-11-03 10:00');
SELECT host, sum(received) AS received FROM received_hourly GROUP BY host ORDER BY host;

-- Densities of the rates of increments: four entries write at 1, 9.99, 3.33 and 100 bytes per second and one on another target at 6.67;
-- then, until nine sharp, one writes at 10,000, and after that at 2. Reads do not count.
DO $$ BEGIN
    PERFORM observe('scratch-OST0000', 'oss1', 0, 5, 10, 55, 60, 65);
    PERFORM observe('scratch-OST0001', 'oss2', 0, 5, 10);
    PERFORM act('scratch-OST0000', '101:1001:n01', 0, 5, '{"write_bytes": 300}');
    PERFORM act('scratch-OST0000', '102:1002:n01', 0, 5, '{"write_bytes": 2997}');
    PERFORM act('scratch-OST0000', '103:1003:n01', 0, 5, '{"write_bytes": 1000}');
    PERFORM act('scratch-OST0000', '105:1004:n01', 0, 5, '{"write_bytes": 30000}');
    PERFORM act('scratch-OST0001', '104:1003:n02', 0, 5, '{"write_bytes": 2000}');
    PERFORM act('scratch-OST0001', '101:1001:n01', 5, 10, '{"read_bytes": 30000}');
    PERFORM act('scratch-OST0000', '101:1001:n01', 55, 60, '{"write_bytes": 3000000}');
    PERFORM act('scratch-OST0000', '101:1001:n01', 60, 65, '{"write_bytes": 600}');
END $$;
CREATE MATERIALIZED VIEW write_rates_1h
WITH (timescaledb.continuous, timescaledb.materialized_only = false) AS
SELECT time_bucket('1 hour', "time", "offset" => interval '1 microsecond') AS bucket, target_id,
    jobstats_density_agg(write_bytes / extract(epoch FROM "time" - since)::double precision) AS density
FROM jobstats.increments
WHERE write_bytes > 0
GROUP BY 1, 2
WITH NO DATA;
CALL refresh_continuous_aggregate('write_rates_1h', '2025-11-03 08:00', '2025-11-03 09:30');
SELECT hours.bucket - interval '1 microsecond' AS since, t.name AS target, lower, upper, count
FROM write_rates_1h hours
JOIN jobstats.targets t USING (target_id)
CROSS JOIN LATERAL jobstats_density_buckets(density)
ORDER BY since, target, lower;
-- Of all targets, by days.
CREATE MATERIALIZED VIEW write_rates_1d
WITH (timescaledb.continuous, timescaledb.materialized_only = false) AS
SELECT time_bucket('1 day', bucket, "offset" => interval '1 microsecond') AS bucket, jobstats_rollup(density) AS density
FROM write_rates_1h
GROUP BY 1
WITH NO DATA;
SELECT days.bucket - interval '1 microsecond' AS since, lower, upper, count
FROM write_rates_1d days
CROSS JOIN LATERAL jobstats_density_buckets(density)
ORDER BY since, lower;

-- What TimescaleDB refuses.
CREATE MATERIALIZED VIEW refused WITH (timescaledb.continuous) AS
SELECT time_bucket('1 hour', bucket) AS bucket, host, lag(jobstats_rollup(counter)) OVER (ORDER BY time_bucket('1 hour', bucket))
FROM received_10m
GROUP BY 1, 2
WITH NO DATA;
CREATE MATERIALIZED VIEW refused WITH (timescaledb.continuous) AS
SELECT time_bucket('15 minutes', bucket) AS bucket, host, jobstats_rollup(counter) AS counter
FROM received_10m
GROUP BY 1, 2
WITH NO DATA;
CREATE MATERIALIZED VIEW refused WITH (timescaledb.continuous) AS
SELECT date_trunc('hour', bucket) AS bucket, host, jobstats_rollup(counter) AS counter
FROM received_10m
GROUP BY 1, 2
WITH NO DATA;
CREATE MATERIALIZED VIEW refused WITH (timescaledb.continuous) AS
SELECT time_bucket('1 day', bucket) AS bucket, host, sum(received) AS received
FROM received_hourly
GROUP BY 1, 2
WITH NO DATA;
CREATE MATERIALIZED VIEW refused WITH (timescaledb.continuous) AS
SELECT time_bucket('1 hour', bucket) AS bucket, host, jobstats_rollup(counter) AS counter
FROM (SELECT * FROM received_10m WHERE host LIKE 'oss%') hosts
GROUP BY 1, 2
WITH NO DATA;
CREATE UNIQUE INDEX ON received_10m (host, bucket);
BEGIN;
CALL refresh_continuous_aggregate('received_10m', '2025-11-03 08:00', '2025-11-03 10:00');
ROLLBACK;
-- Hours of all hosts together: their spans overlap.
CREATE MATERIALIZED VIEW all_hosts_1h WITH (timescaledb.continuous) AS
SELECT time_bucket('1 hour', bucket) AS bucket, jobstats_rollup(counter) AS counter
FROM received_10m
GROUP BY 1
WITH NO DATA;
CALL refresh_continuous_aggregate('all_hosts_1h', '2025-11-03 08:00', '2025-11-03 10:00');
DROP MATERIALIZED VIEW all_hosts_1h;

-- The extension does not go without those who need it.
\set VERBOSITY terse
DROP EXTENSION jobstats;
\set VERBOSITY default

-- Readings are dropped, their aggregates remain; refreshing dropped readings removes them.
CALL refresh_continuous_aggregate('received_10m', '2025-11-03 08:00', '2025-11-03 10:10');
CALL refresh_continuous_aggregate('received_1h', '2025-11-03 08:00', '2025-11-03 11:00');
INSERT INTO readings VALUES ('2025-11-04 00:02', 'oss1', 1084400, '2025-10-01 12:00');
SELECT count(*) AS chunks FROM drop_chunks('readings', older_than => timestamptz '2025-11-04');
SELECT host, sum(received) AS received FROM received_hourly GROUP BY host ORDER BY host;
CALL refresh_continuous_aggregate('received_10m', NULL, NULL);
SELECT host, count(*) FROM received_10m GROUP BY host ORDER BY host;
SELECT host, sum(received) AS received FROM received_hourly GROUP BY host ORDER BY host;

-- Policies.
SELECT add_continuous_aggregate_policy('received_10m',
    start_offset => interval '3 days', end_offset => interval '10 minutes', schedule_interval => interval '10 minutes');
SELECT add_continuous_aggregate_policy('received_1h',
    start_offset => interval '3 days', end_offset => interval '1 hour', schedule_interval => interval '1 hour');
CALL add_columnstore_policy('received_10m', after => interval '4 days');
SELECT add_retention_policy('readings', drop_after => interval '7 days');
SELECT add_retention_policy('received_10m', drop_after => interval '1 year');
SELECT add_continuous_aggregate_policy('write_rates_1h',
    start_offset => interval '3 days', end_offset => interval '1 hour', schedule_interval => interval '1 hour');
SELECT job_id, proc_name, config - 'mat_hypertable_id' - 'hypertable_id' AS config
FROM timescaledb_information.jobs
WHERE job_id >= 1000
ORDER BY job_id;

-- Maintenance of the store leaves them alone, also when it drops the increments that they are made of.
CALL jobstats_maintain();
SELECT problem FROM jobstats.maintenance WHERE step = 'all' AND problem IS NOT NULL;
SELECT count(*) AS increments FROM jobstats.increments;
SELECT sum(jobstats_density_count(density)) AS rates FROM write_rates_1h;
SELECT jobstats_setup() IS NOT NULL AS ready;
SELECT count(*) AS complaints FROM jobstats.health WHERE remedy ~ 'received_|write_rates_';
