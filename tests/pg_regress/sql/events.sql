-- jobstats_detect() finds, keeps and alerts events.
\i store.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
-- A metadata server and its target, read at these minutes. From minute 60 to 90, user 1002 opens files in job 4711 as no one did before, and
-- requests wait for 200 ms instead of 2.
CREATE FUNCTION storm(minute numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$ SELECT least(greatest(minute, 60), 90) - 60 $$;
CREATE FUNCTION service(minute numeric) RETURNS text LANGUAGE sql STABLE AS $$
SELECT stats('mds.MDS.mdt.stats', at(minute), at(-60), jsonb_build_object('req_waittime', r.quiet + r.busy,
    'req_waittime_usecs', r.quiet * 2000 + r.busy * 200000, 'req_qdepth', 0, 'req_active', 0))
FROM (SELECT 6000 + 100 * (minute - storm(minute)) AS quiet, 1000 * storm(minute) AS busy) r
$$;
CREATE FUNCTION feed(VARIADIC minutes numeric[]) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT '', 'mds1', at(m), mdt('fs-MDT0000', life('17:1001:n01', at(-60), 6000 + 90 * m, 100 * (6000 + 90 * m)),
        life('4711:1002:n02', at(-60), 100 + 900 * storm(m), 1000 * (100 + 900 * storm(m)), 60 + m)) || service(m)
FROM unnest(minutes) m ORDER BY m
$$;
CREATE FUNCTION feed2(VARIADIC minutes numeric[]) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT '', 'mds2', at(m), mdt('fs-MDT0001', life('17:1001:n01', at(-60), 6000 + 90 * m, 100 * (6000 + 90 * m))) || service(m)
FROM unnest(minutes) m ORDER BY m
$$;
CREATE FUNCTION every_two(since numeric, until numeric) RETURNS numeric[] LANGUAGE sql IMMUTABLE AS $$
SELECT array_agg(m) FROM generate_series(since, until, 2) m
$$;
CREATE VIEW events AS
SELECT kind, severity, filesystem AS fs, minute(began) AS began, minute(found) AS found, minute(until) AS until, minute(ended) AS ended, targets, servers,
    round(value::numeric, 4) AS value, round(usual::numeric, 4) AS usual, round(rate::numeric, 2) AS rate, reason, notified IS NOT NULL AS notified,
    withdrawn IS NOT NULL AS withdrawn
FROM jobstats.events ORDER BY jobstats.events.began, kind;

-- Before any feed.
CALL jobstats_detect();
-- The baseline: ten days of hours.
INSERT INTO jobstats.server_hours (bucket, observed_usecs, requests, wait_usecs, depth, active, cluster, server, service)
SELECT h + interval '1 microsecond', 3600000000, 6000, 6000 * 2000, 0, 0, '', server, 'mdt'
FROM generate_series(at(0) - interval '240 hours', at(-60) - interval '1 hour', interval '1 hour') h, unnest('{mds1,mds2}'::text[]) server;
LISTEN jobstats_events;
SELECT feed(VARIADIC every_two(0, 64));
CALL jobstats_detect();
TABLE events;
SELECT feed(66);
CALL jobstats_detect();
TABLE events;
SELECT feed(VARIADIC every_two(68, 100));
-- Without the number of the process.
\o | sed 's/ received from.*//'
CALL jobstats_detect();
\o
SELECT feed(VARIADIC every_two(102, 120));
CALL jobstats_detect();
TABLE events;
-- The second call changes no event.
CREATE TABLE before AS SELECT * FROM jobstats.events;
CALL jobstats_detect();
UPDATE jobstats.watch SET rejudge_from = at(-600);
CALL jobstats_detect();
SELECT minute(watched_until) AS watched, rejudge_from FROM jobstats.watch;
TABLE before EXCEPT TABLE jobstats.events;

-- Whose work it was, and what to do. Times of the day depend on when this runs.
CREATE FUNCTION timeless(said text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
SELECT regexp_replace(regexp_replace(said, '(\d{4}-\d\d-\d\d )?\d\d:\d\d', 'TIME', 'g'), '\([0-9.]+ k?B\)', '(SIZE)')
$$;
CREATE FUNCTION explain(kind text) RETURNS TABLE (line integer, topic text, "text" text) LANGUAGE sql AS $$
SELECT x.line, x.topic, timeless(x.text) FROM jobstats.events e, jobstats_explain(e.event_id) x WHERE e.kind = explain.kind ORDER BY e.began DESC, 1
$$;
SELECT jsonb_pretty(culprits) AS culprits, load_times FROM jobstats_events(at(0));
-- Its labels are a filter.
SELECT e.name, e.labels, t.name, t.share FROM jobstats_events(at(0), filter => 'filesystem=f*') e, jobstats_top(e.began, e.until, 'open', filter => e.labels) t;
SELECT * FROM explain('waiting');
SELECT topic, details FROM jobstats_explain((SELECT event_id FROM jobstats.events)) WHERE topic IN ('what', 'how', 'peers') OR line = 8;
SELECT jsonb_pretty(a - 'startsAt' - 'endsAt' || jsonb_build_object('annotations', a -> 'annotations' || jsonb_build_object('description', timeless(a #>> '{annotations,description}')),
    'starts', minute((a ->> 'startsAt')::timestamptz), 'ends', minute((a ->> 'endsAt')::timestamptz)))
FROM jsonb_array_elements(jobstats_alerts(names => true)) a;

-- The number of the job limits others who name it, too, so a rule is about the user. Who only names it has no job.
INSERT INTO jobstats.entries (entry_id, name, uid, claimed, status, workload, first_seen) VALUES (1, '4711:1003:n03', 1003, '4711', 'claimed', '4711:1003:n03', at(60));
SELECT substring("text" FROM 'nrs_tbf_rule=.*') AS rule FROM explain('waiting') WHERE "text" ~ 'rule="start';
DELETE FROM jobstats.entries WHERE entry_id = 1;
UPDATE jobstats.entries SET job = NULL, claimed = '4711', status = 'claimed', workload = name WHERE name = '4711:1002:n02';
UPDATE jobstats.watch SET rejudge_from = at(0);
CALL jobstats_detect();
SELECT topic, "text" FROM explain('waiting') WHERE topic = 'who' OR "text" ~ 'rule="start|The job';
UPDATE jobstats.entries SET job = '4711', claimed = NULL, status = 'ok', workload = '4711' WHERE name = '4711:1002:n02';
UPDATE jobstats.watch SET rejudge_from = at(0);
CALL jobstats_detect();
SELECT to_jsonb(b) - text 'updated' FROM before b EXCEPT SELECT to_jsonb(e) - text 'updated' FROM jobstats.events e;

-- Texts of another server come late, after maintenance has summed their times.
SELECT feed2(VARIADIC '{0,2,58,60,110}'), feed(VARIADIC every_two(122, 184));
CALL jobstats_maintain();
SET client_min_messages = error;
SELECT feed2(VARIADIC every_two(62, 108));
RESET client_min_messages;
CALL jobstats_detect();
SELECT servers, targets FROM events;
CALL jobstats_maintain();
SELECT servers, targets, began, until, notified, withdrawn FROM events;
SELECT rejudge_from FROM jobstats.watch;

-- Late text clears the event, and then restores it.
CREATE TABLE stored AS SELECT * FROM jobstats.server_increments;
UPDATE jobstats.server_increments SET wait_usecs = 2000 * requests;
UPDATE jobstats.watch SET rejudge_from = at(0);
CALL jobstats_detect();
SELECT event, withdrawn IS NOT NULL FROM jobstats_events(at(0), withdrawn => true);
SELECT count(*) FROM jobstats_events(at(0));
DELETE FROM jobstats.server_increments;
INSERT INTO jobstats.server_increments SELECT * FROM stored;
UPDATE jobstats.watch SET rejudge_from = at(0);
CALL jobstats_detect();
SELECT event, withdrawn FROM jobstats_events(at(0));

-- No alert was sent: maintenance, too many stronger ones; then one is.
CREATE TABLE by_steps AS SELECT to_jsonb(e) - '{event_id,updated,notified}'::text[] AS event FROM jobstats.events e;
DELETE FROM jobstats.events;
SELECT jobstats_silence(at(50), at(95), 'f*', reason => 'new firmware');
UPDATE jobstats.watch SET rejudge_from = at(0);
CALL jobstats_detect();
SELECT severity, reason, notified FROM events;
DELETE FROM jobstats.windows;
UPDATE jobstats.settings SET alerts_per_week = 0;
UPDATE jobstats.watch SET rejudge_from = at(0);
CALL jobstats_detect();
SELECT severity, reason, notified FROM events;
SELECT topic, "text" FROM explain('waiting') WHERE topic = 'notified';
UPDATE jobstats.settings SET alerts_per_week = 2;
UPDATE jobstats.watch SET rejudge_from = at(0);
\o | sed 's/ received from.*//'
CALL jobstats_detect();
\o
SELECT severity, reason, notified FROM events;
-- One call for all readings finds the same events as successive calls.
TABLE by_steps EXCEPT SELECT to_jsonb(e) - '{event_id,updated,notified}'::text[] FROM jobstats.events e;

-- Verdicts.
SELECT jobstats_confirm_event(event_id, 'known', 'a backup') FROM jobstats.events;
SELECT verdict, note, judged, precision FROM jobstats_events(at(0));
SELECT jobstats_confirm_event(event_id, 'true') FROM jobstats.events;
SELECT jobstats_confirm_event(-1, 'real');
SELECT count(*) FROM jobstats_events(now() - interval '1 year', severity => 'warning');
SELECT * FROM jobstats_explain(-1);
SELECT jobstats_silence(at(0), at(0));

-- Six OSTs: two move, one is slow from minute 130 on, one is idle from minute 170 on, and one is full; the last was fed first. A reading
-- has two rows.
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT '', CASE WHEN m = 4 AND n IN (0, 5) THEN 'oss2' ELSE 'oss1' END, at(m), ost('fs-OST000' || n, record('a.1', m, 4096 * m))
FROM generate_series(0, 4, 2) m, generate_series(0, 5) n ORDER BY m, n DESC;
INSERT INTO jobstats.target_increments ("time", since, observed, observed_usecs, target_id, exports, reset, read, read_usecs, read_bytes)
SELECT at(m - p), at(m - p - 1), at(m), 60000000, t.target_id, 0, false, p * r.calls, (1 - p) * r.calls * CASE WHEN t.index = 3 AND m > 130 THEN 30000 ELSE 10000 END, p * r.calls * 1048576
FROM generate_series(62, 178, 2) m, generate_series(0, 1) p, jobstats.targets t, LATERAL (SELECT CASE WHEN t.index = 5 AND m > 170 THEN 0 ELSE 100 END AS calls) r
WHERE t.kind = 'OST';
INSERT INTO jobstats.baseline_calls (target_id, class, day, seconds_per_call)
SELECT t.target_id, 3, d::date, 0.01 FROM jobstats.targets t, generate_series(at(0) - interval '1 day', at(0) + interval '1 day', interval '1 day') d
WHERE t.kind = 'OST';
INSERT INTO jobstats.sample_series (cluster, server, target_id, name, labels, since, "time", value)
SELECT '', 'oss1', t.target_id, g.name, '{}', at(0), at(178), g.value
FROM jobstats.targets t, (VALUES ('kbytestotal', 1000), ('kbytesfree', 60), ('kbytesavail', 40), ('filestotal', 1000), ('filesfree', 500)) g (name, value)
WHERE t.name = 'fs-OST0002';
INSERT INTO jobstats.samples_1h (series_id, bucket, min, max, sum, last, count)
SELECT s.series_id, at(60 * h) + interval '1 microsecond', 0, 0, 0, s.value * CASE WHEN s.name = 'kbytesavail' AND h = 0 THEN 10 ELSE 1 END, 1
FROM jobstats.sample_series s, generate_series(0, 2) h WHERE s.target_id IS NOT NULL AND s.name IN ('kbytestotal', 'kbytesfree', 'kbytesavail', 'filestotal', 'filesfree')
    AND s.server = 'oss1';
-- Recovery ran on a target that did not move.
INSERT INTO jobstats.sample_series (cluster, server, target_id, name, labels, since, "time", value)
SELECT '', 'oss1', t.target_id, 'recovering', '{}', at(0), at(178), 0 FROM jobstats.targets t WHERE t.name = 'fs-OST0001';
INSERT INTO jobstats.samples_1h (series_id, bucket, min, max, sum, last, count)
SELECT s.series_id, at(60 * h) + interval '1 microsecond', 0, (h = 1)::int, 0, 0, 30
FROM jobstats.sample_series s, generate_series(0, 2) h WHERE s.name = 'recovering';
UPDATE jobstats.watch SET rejudge_from = at(0);
UNLISTEN jobstats_events;
CALL jobstats_detect();
SELECT kind, severity, began, found, until, ended, targets, servers, value, usual, rate, reason FROM events WHERE kind <> 'waiting';
SELECT e.kind, x.topic, timeless(x.text) FROM jobstats.events e, jobstats_explain(e.event_id) x WHERE e.kind <> 'waiting' ORDER BY e.kind, x.line;
SELECT unnest(regexp_matches(jobstats_metrics(), 'jobstats_event{[^\n]*', 'g'));
-- A target that has been full for days does not suppress alerts for another.
UPDATE jobstats.events SET began = began - interval '72 hours' WHERE kind = 'full';
UPDATE jobstats.samples_1h h SET last = s.value FROM jobstats.sample_series s WHERE s.series_id = h.series_id AND s.server = 'oss1';
INSERT INTO jobstats.sample_series (cluster, server, target_id, name, labels, since, "time", value)
SELECT '', 'oss2', t.target_id, g.name, '{}', at(0), at(178), g.value
FROM jobstats.targets t, (VALUES ('kbytestotal', 1000), ('kbytesfree', 20), ('kbytesavail', 20)) g (name, value) WHERE t.name = 'fs-OST0004';
INSERT INTO jobstats.samples_1h (series_id, bucket, min, max, sum, last, count)
SELECT s.series_id, at(60 * h) + interval '1 microsecond', 0, 0, 0, CASE WHEN h < 3 AND s.value = 20 THEN 600 ELSE s.value END, 1
FROM jobstats.sample_series s, generate_series(0, 3) h WHERE s.server = 'oss2' AND s.target_id IS NOT NULL;
CALL jobstats_detect();
SELECT kind, began, until, ended, targets, value, usual, notified FROM events WHERE kind = 'full';

-- Detection has stopped.
SELECT count(*) FROM jobstats.health WHERE remedy ~ '^Readings have been judged';
UPDATE jobstats.watch SET ran = now() - interval '20 minutes', watched_until = at(160);
SELECT timeless(remedy) ~ '^Events have been detected up to TIME' AS overdue FROM jobstats.health WHERE remedy ~ '^Events have';
CALL jobstats_detect();

-- Who may see what.
CREATE ROLE events_reader;
CREATE ROLE events_nameless;
CREATE ROLE events_own;
CREATE ROLE events_other;
SELECT jobstats_grant_reader('events_reader'), jobstats_grant_reader('events_nameless', false), jobstats_grant_own('events_own', 1002), jobstats_grant_own('events_other', 1001);
CREATE FUNCTION seen() RETURNS TABLE (role name, events bigint, culprits jsonb, note text, who text) LANGUAGE sql AS $$
SELECT current_user, (SELECT count(*) FROM jobstats_events(now() - interval '1 day')), e.culprits #> '{subjects,0,uid}', e.note, x.text
FROM jobstats_events(now() - interval '1 day', event => 'wait*') e, jobstats_explain(e.event_id) x WHERE x.topic = 'who'
$$;
SET ROLE events_reader;
SELECT * FROM seen();
SELECT jobstats_confirm_event(1, 'real');
SET ROLE events_nameless;
SELECT * FROM seen();
SELECT (a -> 'annotations' ->> 'description') ~ '1002' FROM jsonb_array_elements(jobstats_alerts(true)) a WHERE a #>> '{labels,event}' = 'waiting';
SET ROLE events_own;
SELECT * FROM seen();
SET ROLE events_other;
SELECT * FROM seen();
RESET ROLE;

-- What an earlier event of the same kind and place was judged to be is for all, its note for readers of everything.
INSERT INTO jobstats.events OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(e, jsonb_build_object('event_id', 1000 + n, 'began', e.began - n * interval '24 hours', 'until', e.until - n * interval '24 hours', 'verdict', v.verdict,
    'note', 'a test', 'culprits', NULL, 'targets', v.targets))).*
FROM jobstats.events e, (VALUES (3, 'real', '{other-MDT0000}'::text[]), (4, 'false', '{other-MDT0000,fs-MDT0000}'), (5, 'real', '{fs-MDT0000}')) v (n, verdict, targets)
WHERE e.kind = 'waiting';
CREATE FUNCTION earlier() RETURNS SETOF text LANGUAGE sql AS $$
SELECT timeless(x.text) FROM jobstats_events(now() - interval '1 day') e, jobstats_explain(e.event_id) x WHERE x.topic = 'earlier'
$$;
SET ROLE events_reader;
SELECT * FROM earlier();
SET ROLE events_own;
SELECT * FROM earlier();
RESET ROLE;
DELETE FROM jobstats.events WHERE event_id > 1000;

-- Who is forgotten is forgotten here, too.
SELECT relation, "rows", columns FROM jobstats_personal_data(1002) WHERE relation = 'events';
SELECT trace, "rows" FROM jobstats_forget_user(1002) WHERE "rows" > 0;
SELECT (culprits #>> '{subjects,0,uid}')::bigint > 4294967295 AS uid, culprits #>> '{subjects,0,job}' <> '4711' AS job FROM jobstats.events WHERE kind = 'waiting';
UPDATE jobstats.settings SET events_retention = '1 microsecond';
SELECT jobstats_internal.forget_events(now());
TABLE events;

-- A target had been full for four days when it was first watched: somebody is notified, as it still is.
INSERT INTO jobstats.sample_series (cluster, server, target_id, name, labels, since, "time", value)
SELECT '', 'oss1', t.target_id, g.name, '{}', at(-5760), at(178), g.value
FROM jobstats.targets t, (VALUES ('kbytestotal', 1000), ('kbytesfree', 30), ('kbytesavail', 30)) g (name, value) WHERE t.name = 'fs-OST0001';
INSERT INTO jobstats.samples_1h (series_id, bucket, min, max, sum, last, count)
SELECT s.series_id, at(60 * h) + interval '1 microsecond', 0, 0, 0, s.value, 1
FROM jobstats.sample_series s JOIN jobstats.targets t USING (target_id), generate_series(-96, 2) h WHERE t.name = 'fs-OST0001' AND s.name <> 'recovering';
UPDATE jobstats.watch SET watched_until = NULL, rejudge_from = NULL;
CALL jobstats_detect();
SELECT kind, severity, targets, value, ended IS NULL AS goes_on, notified IS NOT NULL AS notified, reason FROM jobstats.events WHERE kind = 'full' AND targets = '{fs-OST0001}';
