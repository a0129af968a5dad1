-- Raw text of events outlives other raw text, within its share of the store.
\i store.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
UPDATE texts.clock SET zero = date_trunc('day', now()) - interval '12 days' + interval '8 hours';
SELECT jobstats_setup(raw_retention => '20 days') IS NOT NULL AS ready;
-- Three targets, read every ten minutes for four hours; the third one takes part in no event.
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', at(m), ost('fs-OST0000', record('a.1', m, m)) || ost('fs-OST0001', record('a.1', m, m)) || ost('fs-OST0002', record('a.1', m, m))
FROM generate_series(0, 240, 10) m ORDER BY m;
CREATE FUNCTION event(began numeric, until numeric, targets text[], is_told boolean, is_withdrawn boolean DEFAULT false) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.events (kind, cluster, filesystem, began, found, until, ended, updated, severity, targets, servers, rate, details, notified, withdrawn)
SELECT 'stalled', '', 'fs', at(began), at(began), at(until), at(until), now(), CASE WHEN is_told THEN 'critical' ELSE 'info' END, targets, '{oss1}', 1, '{}',
    CASE WHEN is_told THEN now() END, CASE WHEN is_withdrawn THEN now() END
$$;
CREATE VIEW evidence AS
SELECT t.name AS target, array_agg(minute(e."time")::integer ORDER BY e."time") AS minutes
FROM jobstats.evidence e JOIN jobstats.targets t USING (target_id) GROUP BY 1 ORDER BY 1;
CREATE VIEW explained AS
SELECT minute(e.began) AS began, regexp_replace(x.text, '\d{4}-\d\d-\d\d \d\d:\d\d', 'TIME') AS "text", x.details -> 'texts' AS texts, x.details -> 'dropped' AS dropped,
    round(extract(epoch FROM (x.details ->> 'until')::timestamptz - e.began) / 60) AS until
FROM jobstats.events e, jobstats_explain(e.event_id) x WHERE x.topic = 'evidence' ORDER BY e.began, e.event_id;
-- They were found long ago.
UPDATE jobstats.watch SET watched_until = now();
DO $$ BEGIN PERFORM event(40, 60, '{fs-OST0000}', true), event(100, 110, '{fs-OST0000,fs-OST0001}', false), event(200, 200, '{fs-OST0001}', true), event(20, 30, '{fs-OST0002}', true, true); END $$;
-- All of it is raw text yet.
CALL jobstats_maintain();
TABLE evidence;
TABLE explained;
-- It is copied before it is dropped.
CREATE TABLE before AS TABLE jobstats.raw;
DO $$ BEGIN PERFORM jobstats_setup(raw_retention => '5 days'); END $$;
CALL jobstats_maintain();
SELECT t.name, count(*) FROM jobstats.raw r JOIN jobstats.targets t USING (target_id) GROUP BY 1 ORDER BY 1;
TABLE evidence;
SELECT count(*) AS different FROM (TABLE jobstats.evidence EXCEPT SELECT * FROM before) d;
TABLE explained;
-- Of a target that got another name as well; not of a withdrawn event; the second call changes no row.
SELECT jobstats_alter_target('fs-OST0001', rename_to => 'fs-OST0009');
UPDATE jobstats.events SET withdrawn = now() WHERE began = at(40);
SELECT jobstats_internal.keep_evidence(now());
TABLE evidence;
SELECT jobstats_internal.keep_evidence(now());
-- Where there is no room for all of it, the text of an event without an alert goes first, even if it is newer.
UPDATE jobstats.events SET withdrawn = NULL WHERE began = at(40);
DELETE FROM jobstats.raw;
INSERT INTO jobstats.raw TABLE before;
UPDATE jobstats.raw SET body = convert_to(repeat('x', 10000000), 'UTF8') WHERE target_id = 1 AND "time" = at(110);
SELECT jobstats_internal.keep_evidence(now()) > 0 AS changed;
TABLE evidence;
-- Of two events with alerts, the older one's text goes, from its first text without room on.
UPDATE jobstats.evidence SET body = (SELECT r.body FROM jobstats.raw r WHERE r.target_id = 1 AND r."time" = at(110)) WHERE target_id = 1 AND "time" = at(50);
SELECT jobstats_internal.keep_evidence(at(0)) > 0 AS changed;
TABLE evidence;
DELETE FROM jobstats.raw;
SELECT * FROM explained WHERE began = 40;
-- Then it is too old, or names people for too long.
SELECT relation, first IS NOT NULL AS first, columns, kept FROM jobstats_personal_data(1001) WHERE relation IN ('raw', 'evidence');
UPDATE jobstats.settings SET evidence_retention = '2 years';
SELECT jobstats_internal.evidence_kept_for();
UPDATE jobstats.settings SET evidence_retention = '0';
SELECT jobstats_internal.keep_evidence(now()) > 0 AS changed;
TABLE evidence;
UPDATE jobstats.settings SET evidence_retention = '-1 days';
SELECT problem FROM jobstats.maintenance WHERE problem IS NOT NULL;
