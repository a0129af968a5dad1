-- Probes of clients confirm that requests wait, and show what no server counts.
\i store.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
SELECT jobstats_setup(metrics => '{jobstats_probe_*}') IS NOT NULL AS ready;
-- Two targets of one server, whose requests wait for eight minutes.
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', at(m), ost('fs-OST0000', record('a.1', m, m)) || ost('fs-OST0001', record('a.1', m, m)) FROM generate_series(0, 180, 10) m ORDER BY m;
INSERT INTO jobstats.server_increments ("time", since, requests, wait_usecs, depth, active, cluster, server, service)
SELECT at(m), at(m - 2), 1000, CASE WHEN m BETWEEN 65 AND 71 THEN 200000 ELSE 2000 END * 1000, 0, 0, '', 'oss1', 'ost_io' FROM generate_series(1, 179, 2) m;
INSERT INTO jobstats.server_hours (bucket, observed_usecs, requests, wait_usecs, depth, active, cluster, server, service)
SELECT h + interval '1 microsecond', 3600000000, 6000, 6000 * 2000, 0, 0, '', 'oss1', 'ost_io'
FROM generate_series(at(0) - interval '240 hours', at(-60), interval '1 hour') h;
-- As the shipper sends them: the steps take 100 ms together, and of one target 400 in the hour of the wait, of the other in the hour after it.
CREATE FUNCTION probed(minute numeric, VARIADIC milliseconds numeric[]) RETURNS text LANGUAGE sql AS $$
SELECT i.action FROM jobstats_ingest('', 'client1', at(minute), source => 'openmetrics', body => (
    SELECT E'# TYPE jobstats_probe_seconds gauge\n' || string_agg(format(E'jobstats_probe_seconds{directory="/fs/%s",target="fs-OST000%s",step="%s"} %s\n',
        t - 1, t - 1, step, milliseconds[t] / 1000 * CASE step WHEN 'write' THEN 0.75 ELSE 0.25 END), '')
    FROM generate_series(1, cardinality(milliseconds)) t, unnest('{create,write}'::text[]) step)) i
$$;
SELECT probed(0.5, 100, 100), probed(30, 100, 100);
INSERT INTO jobstats.samples_1h (series_id, bucket, min, max, sum, last, count)
SELECT s.series_id, h + interval '1 microsecond', s.value, s.value, s.value * 60, s.value, 60
FROM jobstats.sample_series s, generate_series(at(0) - interval '240 hours', at(-60), interval '1 hour') h WHERE s.name = 'jobstats_probe_seconds';
SELECT probed(65, 700, 100), probed(95, 100, 100), probed(125, 100, 100), probed(155, 100, 700);
CREATE VIEW found AS
SELECT event_id, kind, severity, minute(began) AS began, minute(found) AS found, minute(confirmed) AS confirmed, minute(until) AS until, ended IS NULL AS goes_on, targets, servers,
    round(value::numeric, 3) AS value, round(usual::numeric, 3) AS usual, round(rate::numeric, 2) AS rate, culprits IS NOT NULL AS asked
FROM jobstats.events ORDER BY events.began;
CALL jobstats_detect();
TABLE found;
SELECT f.began, x.topic, regexp_replace(x.text, '\d{4}-\d\d-\d\d \d\d:\d\d|\d\d:\d\d', 'TIME', 'g') AS "text", x.details
FROM found f, jobstats_explain(f.event_id) x WHERE x.topic IN ('what', 'who', 'probe') OR x.text ~ 'lnetctl' ORDER BY f.began, x.line;
-- Step by step gives the same; without a baseline for probes, one did not last long enough, and the other is unknown.
CREATE TABLE at_once AS SELECT to_jsonb(e) - '{event_id,updated,notified}'::text[] AS event FROM jobstats.events e;
DELETE FROM jobstats.events;
UPDATE jobstats.targets SET last_observation = at(71);
UPDATE jobstats.watch SET watched_until = at(0);
CALL jobstats_detect();
SELECT severity, confirmed FROM found;
UPDATE jobstats.targets SET last_observation = at(130);
CALL jobstats_detect();
UPDATE jobstats.targets SET last_observation = at(180);
CALL jobstats_detect();
TABLE at_once EXCEPT SELECT to_jsonb(e) - '{event_id,updated,notified}'::text[] FROM jobstats.events e;
SELECT count(*) FROM jobstats.events;
DELETE FROM jobstats.events;
UPDATE jobstats.baseline_probes SET seconds = 1;
UPDATE jobstats.watch SET rejudge_from = at(0);
CALL jobstats_detect();
SELECT severity, began, confirmed FROM found;
