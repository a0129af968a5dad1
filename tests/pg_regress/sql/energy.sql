-- Counters of the joules of nodes go round at their maximum. jobstats_job() and jobstats_job_usage() say the energy of a job that had its nodes for itself.
\getenv source PG_ABS_SRCDIR
\set store :source '/include/store.sql'
\set ECHO none
\i :store
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
DO $$ BEGIN PERFORM jobstats_setup(retention => '100 years', raw_retention => '100 years', compress_after => '100 years', metrics => '{node_rapl_*,jobstats_node_*}'); END $$;
UPDATE jobstats.settings SET jobs_retention = '100 years';
UPDATE texts.clock SET zero = '2025-11-03 08:00+00';
CREATE FUNCTION texts.meter(server text, minute numeric, body text) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (server, "time", body, source) VALUES (server, at(minute), body, 'openmetrics')
$$;
CREATE FUNCTION texts.run(job text, started numeric, ended numeric, nodes integer, list text) RETURNS text LANGUAGE sql AS $$
SELECT concat_ws('|', job, job, 'alpha', extract(epoch FROM at(0))::bigint, extract(epoch FROM at(started))::bigint,
    coalesce(extract(epoch FROM at(ended))::bigint::text, 'Unknown'), CASE WHEN ended IS NULL THEN 'RUNNING' ELSE 'COMPLETED' END, nodes, list) || E'\n'
$$;
CREATE FUNCTION texts.account(runs text) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (server, "time", body, source)
VALUES ('slurm1', at(70), translate(E'JobIDRaw|JobID|Cluster|Submit|Start|End|State|NNodes|NodeList\n' || runs, '|', chr(31)), 'slurm')
$$;
CREATE VIEW hours AS
SELECT s.server, s.name, s.labels ->> 'path' AS path, h.sum AS joules, h.min, h.max, h.count
FROM jobstats.samples_1h h JOIN jobstats.samples s USING (series_id) WHERE s.name LIKE '%total' ORDER BY 1, 2, 3;

-- n01 says 200 W of a processor and 20 W of memory, each of which goes round at its own maximum; a monitoring server says 120 W of n02, which
-- begins anew in minute 33.
SELECT count(*) FROM generate_series(0, 59) m, meter('n01.site', m, format(E'# TYPE node_rapl_package_joules_total counter
node_rapl_package_joules_total{index="0",path="/sys/0"} %s\nnode_rapl_package_joules_max{path="/sys/0"} 262144
node_rapl_dram_joules_total{path="/sys/0:0"} %s\nnode_rapl_dram_joules_max{path="/sys/0:0"} 65536\n', (260000 + m * 12000) % 262144, (65000 + m * 1200) % 65536));
SELECT count(*) FROM generate_series(0, 59) m, meter('mon', m, format(E'node_rapl_package_joules_max 262144
node_rapl_package_joules_total{instance="n02.site:9100"} %s\n', CASE WHEN m < 33 THEN 100000 + m * 7200 ELSE m * 7200 END % 262144));
SELECT * FROM hours;
-- 31 ran twice, 32 and 33 at the same time on n01, 34 while n02 began anew, 35 on a node that nobody meters, 36 on one of these too, 37 for a
-- minute, 38 runs on, and 39 ended at once. For 41 to 44, see below.
SELECT account(run('31', 5, 15, 2, 'n[01-02]') || run('31', 15.5, 25.5, 1, 'n01') || run('32', 26, 38, 1, 'n01') || run('33', 30, 38, 1, 'n01')
    || run('34', 28, 38, 1, 'n02') || run('35', 10, 30, 1, 'n03') || run('36', 16, 26, 2, 'n[02-03]') || run('37', 38.25, 39.25, 1, 'n01')
    || run('38', 40, NULL, 1, 'n02') || run('39', 20, 20, 1, 'None assigned')
    || run('41', 5, 15, 1, 'n10') || run('42', 15, 35, 1, 'n30') || run('43', 4, 14, 1, 'n30') || run('44', 4, 14, 1, 'n110'));
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', at(o.minute), ost('scratch-OST0000', (SELECT string_agg(record(job || ':1000:n01', o.minute::integer, o.minute * 1000000000::bigint), '' ORDER BY job)
    FROM generate_series(31, 38) AS job))
FROM generate_series(0, 60, 10) AS o (minute);
CALL jobstats_maintain();
SELECT runs, started, ended, run_time, nodes, write_bytes, energy FROM jobstats_job('31');
SELECT "time", operation, total, rate, nodes FROM jobstats_job_usage('31', '') WHERE operation IN ('write_bytes', 'energy', 'energy_per_gb');
SELECT job, energy.total AS joules, energy.rate AS watts
FROM generate_series(32, 38) job LEFT JOIN LATERAL jobstats_job_usage(job, '') energy ON energy.operation = 'energy' ORDER BY job;
-- In a window, it is that of the window.
SELECT operation, total, rate FROM jobstats_job_usage('31', '', since => at(5), until => at(15)) WHERE operation LIKE 'energy%';
-- What meters the whole node counts alone, and two servers that say the same node make it unknown.
SELECT count(*) FROM generate_series(0, 59) m, meter('n01.site', m, format(E'jobstats_node_joules_total %s\n', m * 18000));
SELECT total FROM jobstats_job_usage('31') WHERE operation = 'energy';
SELECT count(*) FROM generate_series(0, 30) m, meter('other', m, format(E'jobstats_node_joules_total{instance="n01"} %s\n', m * 18000));
SELECT total FROM jobstats_job_usage('31') WHERE operation = 'energy';
-- A counter that stands still while the job works knows nothing, whether it does so all the time or from some minute on; one minute of ten
-- is not much.
SELECT count(*) FROM generate_series(0, 59) m, unnest(ARRAY[0, 20, 100]) works, LATERAL (SELECT 'n' || 10 + works AS node) n,
    meter(node, m, format(E'jobstats_node_joules_total %s\n', 1000000 + 18000 * CASE WHEN works < 100 THEN least(m, works) WHEN m > 8 THEN m - 1 ELSE m END));
SELECT job, energy.total AS joules, energy.rate AS watts
FROM generate_series(41, 44) job LEFT JOIN LATERAL jobstats_job_usage(job, '') energy ON energy.operation = 'energy' ORDER BY job;
-- However often a counter is read, an hour has few readings. They go with their series.
SELECT count(*) FROM generate_series(0, 180, 10) s, meter('n04', s / 60.0, format(E'jobstats_node_joules_total %s\n', s * 100));
SELECT e.times, e.joules FROM jobstats.energy e JOIN jobstats.samples s USING (series_id) WHERE s.server = 'n04' ORDER BY e.bucket;
UPDATE jobstats.sample_series SET "time" = now() - interval '101 years';
SELECT jobstats_internal.forget_samples() > 0 AS forgotten;
SELECT count(*) FROM jobstats.energy;
