-- Creates a store with no default setting of jobstats_setup().
SET client_min_messages = warning;
SELECT jobstats_setup(raw_retention => '10 days', rejects_retention => '20 days') IS NOT NULL AS ready \gset
UPDATE jobstats.settings SET max_text = 100000000;
INSERT INTO jobstats.entry_formats VALUES (0, '%j.%e', NULL);
INSERT INTO jobstats.users VALUES (1001, 'anna');
CREATE SCHEMA reports;
CREATE VIEW reports.bytes AS SELECT workload, sum(write_bytes) AS write_bytes FROM jobstats.rates GROUP BY workload;
CREATE VIEW reports.top AS SELECT name, total FROM public.jobstats_top(now() - interval '2 days', now(), 'write_bytes', 'workload', 3);
CREATE TABLE reports.readings AS
SELECT name, public.jobstats_counter_agg(t, v) AS counter, public.jobstats_density_agg(v::double precision) AS density
FROM (VALUES ('a', timestamptz '2025-11-03 08:00', 5), ('a', '2025-11-03 08:10', 8), ('b', '2025-11-03 08:00', 1)) AS r (name, t, v)
GROUP BY name;
-- Where there are continuous aggregates, one of counters: refreshed in part, and one level on top.
SELECT coalesce(current_setting('timescaledb.license', true) = 'timescale', false) AS community \gset
\if :community
CREATE TABLE reports.hosts ("time" timestamptz NOT NULL, host text, received bigint);
SELECT public.create_hypertable('reports.hosts', public.by_range('time')) \gset
INSERT INTO reports.hosts VALUES ('2025-11-03 08:05', 'a', 10), ('2025-11-03 08:15', 'a', 30), ('2025-11-03 08:25', 'a', 35);
CREATE MATERIALIZED VIEW reports.received_10m WITH (timescaledb.continuous, timescaledb.materialized_only = false) AS
SELECT public.time_bucket('10 minutes', "time") AS bucket, host, public.jobstats_counter_agg("time", received) AS counter
FROM reports.hosts GROUP BY 1, 2 WITH NO DATA;
CREATE MATERIALIZED VIEW reports.received_1h WITH (timescaledb.continuous, timescaledb.materialized_only = false) AS
SELECT public.time_bucket('1 hour', bucket) AS bucket, host, public.jobstats_rollup(counter) AS counter
FROM reports.received_10m GROUP BY 1, 2 WITH NO DATA;
CALL public.refresh_continuous_aggregate('reports.received_10m', '2025-11-03 08:00', '2025-11-03 08:20');
CREATE VIEW reports.received AS
SELECT bucket, host, public.jobstats_counter_increase(counter, previous) AS received
FROM (SELECT *, lag(counter) OVER (PARTITION BY host ORDER BY bucket) AS previous FROM reports.received_10m) buckets;
\endif
