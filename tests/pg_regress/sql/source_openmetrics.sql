-- The source openmetrics: gauges and counters of exporters that settings.metrics selects.
\i store.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
-- Hours of one day, whenever this runs.
UPDATE texts.clock SET zero = zero - interval '2 hours' WHERE extract(hour FROM zero) = 23;
CREATE FUNCTION feed(minute numeric, body text, server text DEFAULT 'node1')
RETURNS TABLE (action text, entries int, active int, added int, resets int, removed int, unknown int, problems int) LANGUAGE sql AS $$
SELECT action, entries, active, added, resets, removed, unknown, problems FROM jobstats_ingest('', server, at(minute), body, source => 'openmetrics')
$$;
CREATE VIEW series AS
SELECT s.server, s.name, s.labels, minute(s."time") AS "time", s.value, s.counter, minute(s.since) AS since
FROM jobstats.samples s WHERE s.target IS NULL ORDER BY s.server, s.name, s.labels;
CREATE VIEW hours AS
SELECT s.name, s.labels, minute(h.bucket - interval '1 microsecond') AS hour, h.min, h.max, h.sum, h.last, h.count
FROM jobstats.samples_1h h JOIN jobstats.samples s USING (series_id) ORDER BY 1, 2, 3;
CREATE FUNCTION page(joules numeric, watts text) RETURNS text LANGUAGE sql AS $$
SELECT format(E'# HELP node_load1 1m load average.\n# TYPE node_load1 gauge\nnode_load1 0.5\n# TYPE node_rapl_package_joules_total counter\n'
    'node_rapl_package_joules_total{index="0",path="C:\\\\a\\"b"} %s\n# TYPE probe_seconds histogram\nprobe_seconds_bucket{le="0.1"} 8\n'
    'probe_seconds_sum 0.25\nprobe_watts %s\n', joules, watts)
$$;

-- At first all metrics are dropped, and the sender gets a hint.
\set VERBOSITY default
SELECT * FROM feed(1, page(100, '5'));
\set VERBOSITY terse
SELECT jobstats_setup(metrics => '{node_rapl_*,probe_*}') IS NOT NULL AS ready;
SELECT * FROM feed(2, page(100, '5'));
SELECT * FROM series;
-- A counter has its growth. NaN is no value. After a decrease the counter has restarted.
SELECT * FROM feed(12, page(160.5, 'NaN'));
SELECT * FROM feed(22, page(30, '7'));
SELECT * FROM series WHERE name NOT LIKE '%seconds%';
SELECT * FROM feed(62, page(40, '-1'));
SELECT * FROM hours WHERE name NOT LIKE '%seconds%';
SELECT s.name, d.sum, d.count FROM jobstats.samples_1d d JOIN jobstats.samples s USING (series_id) ORDER BY 1;
-- The same text again, and an older one, are known. Another server has separate series, which begin anew.
SELECT * FROM feed(62, page(41, '1'));
SELECT * FROM feed(42, page(35, '1'));
SELECT * FROM feed(62, page(1000, '1'), 'node2');
SELECT server, name, value, counter FROM series WHERE name LIKE '%joules%';
-- Times in the text: milliseconds, or seconds in OpenMetrics. An impossible time is rejected.
SELECT * FROM feed(70, format(E'probe_a 1 %s\nprobe_b 1 99999999999999\n', (extract(epoch FROM at(65)) * 1000)::bigint), 'probe');
SELECT * FROM feed(71, format(E'probe_a 2 %s\n# EOF\n', extract(epoch FROM at(66.5))), 'probe');
SELECT name, "time", value FROM series WHERE server = 'probe';

-- Bad lines do not affect others. A page without metrics is rejected as a whole. No text is kept.
SELECT * FROM feed(80, E'probe_ok{x="1"} 1\nprobe_bad{x="1} 1\n<html>\nprobe_ok one\nprobe_ok{x="1"} 2\n', 'probe');
SELECT * FROM feed(81, E'<html>\n<p>502</p>\n', 'probe');
SELECT * FROM feed(82, 'ada:x:1000:100::/home/ada:/bin/bash', 'probe');
SELECT action FROM jobstats_ingest('', 'probe', at(83), page(1, '1'));
SELECT minute("time") AS "time", server, line, reason, text FROM jobstats.rejects ORDER BY "time", line;
SELECT count(*) FROM jobstats.texts;
-- A name of a gauge of lctl is never let through: an exporter cannot make a server healthy. Half of the series of a server are lctl's.
SELECT jobstats_setup(metrics => '{*}') IS NOT NULL AS ready;
SELECT * FROM feed(90, E'unhealthy 0\nchangelog_idle{reader="cl1"} 900000\nup 1\n', 'oss1');
SELECT action, entries, active, added FROM feed(91, (SELECT string_agg(format(E'many{n="%s"} 1\n', n), '') FROM generate_series(1, 5002) n), 'oss1');
SELECT server, reason, text FROM jobstats.rejects WHERE "time" = at(91);

-- The setting refuses what would fail later, whoever sets it.
SELECT jobstats_setup(metrics => '{NULL}');
UPDATE jobstats.settings SET metrics = '{""}';
UPDATE jobstats.settings SET metrics = NULL;
SELECT jobstats_setup(metrics => array_agg('a' || n)) FROM generate_series(1, 101) n;
SELECT jobstats_setup() IS NOT NULL AS ready, (SELECT metrics FROM jobstats.settings);
SELECT jobstats_setup(metrics => '{}') IS NOT NULL AS ready;
SELECT metrics FROM jobstats.settings;
