-- A store in which nothing is as jobstats_setup() leaves it.
SET client_min_messages = warning;
SELECT jobstats_setup(raw_retention => '10 days', rejects_retention => '20 days') IS NOT NULL AS ready \gset
UPDATE jobstats.settings SET max_text = 100000000;
INSERT INTO jobstats.entry_formats VALUES (0, '%j.%e', NULL);
INSERT INTO jobstats.users VALUES (1001, 'anna');
CREATE SCHEMA reports;
CREATE VIEW reports.bytes AS SELECT workload, sum(write_bytes) AS write_bytes FROM jobstats.rates GROUP BY workload;
CREATE VIEW reports.top AS SELECT workload, total FROM public.jobstats_top(now() - interval '2 days', now(), 'write_bytes', '{workload}', 3);
CREATE TABLE reports.readings AS
SELECT name, public.jobstats_counter_agg(t, v) AS counter, public.jobstats_density_agg(v::double precision) AS density
FROM (VALUES ('a', timestamptz '2025-11-03 08:00', 5), ('a', '2025-11-03 08:10', 8), ('b', '2025-11-03 08:00', 1)) AS r (name, t, v)
GROUP BY name;
