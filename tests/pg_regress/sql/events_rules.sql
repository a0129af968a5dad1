-- Rules of a site, about the largest user, account or job of a file system.
\i store.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
DO $$ BEGIN PERFORM jobstats_setup(raw_retention => '20 days'); END $$;
-- On nine days a user wrote for an hour, 9 MB/s on the first and 1 MB/s on the last of them.
CREATE FUNCTION worked(id text, minutes numeric) RETURNS text LANGUAGE sql AS $$ SELECT record(id, 600 + minutes, (600 + minutes) * 60000000) $$;
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', at(h - 1440 * d), ost('fs-OST0000', worked('17:1001:n01', 60 * (45 - d * (d + 1) / 2 + d * h / 60)) || worked('4711:1002:n02', 0))
FROM generate_series(9, 1, -1) d, generate_series(0, 60, 60) h ORDER BY d DESC, h;
-- Then that user writes 1 MB/s, and another one 9 from minute 30 to 90.
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', at(m), ost('fs-OST0000', worked('17:1001:n01', 2700 + m) || worked('4711:1002:n02', 9 * (least(greatest(m, 30), 90) - 30)))
FROM generate_series(0, 150, 10) m ORDER BY m;
CREATE VIEW found AS
SELECT kind, severity, minute(began) AS began, minute(found) AS found, minute(until) AS until, ended IS NULL AS goes_on, targets, servers, round(value / 1e6) AS value,
    round(usual / 1e6) AS usual, round(rate::numeric, 2) AS rate, details -> 'rules' AS rules, culprits FROM jobstats.events ORDER BY events.began;
-- All are switched off.
SELECT name, operation, "by", times_usual, lasting, enabled FROM jobstats.rules ORDER BY 1;
CALL jobstats_detect();
SELECT count(*) FROM jobstats.events;
INSERT INTO jobstats.rules (name, operation, threshold, enabled) VALUES ('much writing', 'write_bytes', 8500000, true);
UPDATE jobstats.rules SET enabled = true, lasting = '10 minutes', times_usual = 1.6, url = 'https://hpc.example.org/io' WHERE name = 'many bytes';
UPDATE jobstats.watch SET watched_until = at(0);
CALL jobstats_detect();
TABLE found;
SELECT x.topic, regexp_replace(x.text, '\d{4}-\d\d-\d\d \d\d:\d\d|\d\d:\d\d', 'TIME', 'g') AS "text"
FROM jobstats.events e, jobstats_explain(e.event_id) x WHERE x.topic IN ('what', 'who', 'next');
SELECT a #>> '{labels,event}' AS event, a #>> '{annotations,summary}' AS summary FROM jsonb_array_elements(jobstats_alerts()) a;
-- In steps it is the same, and a user who is forgotten is forgotten here.
CREATE TABLE at_once AS SELECT to_jsonb(e) - '{event_id,updated,notified}'::text[] AS event FROM jobstats.events e;
DELETE FROM jobstats.events;
UPDATE jobstats.watch SET watched_until = at(0);
UPDATE jobstats.targets SET last_observation = at(45);
CALL jobstats_detect();
UPDATE jobstats.targets SET last_observation = at(95);
CALL jobstats_detect();
UPDATE jobstats.targets SET last_observation = at(150);
CALL jobstats_detect();
TABLE at_once EXCEPT SELECT to_jsonb(e) - '{event_id,updated,notified}'::text[] FROM jobstats.events e;
SELECT trace, "rows" FROM jobstats_forget_user(1002) WHERE "rows" > 0;
SELECT culprits #> '{subjects,0,uid}' <> '1002' AS forgotten FROM jobstats.events;
-- A rule about jobs names the user with most of the job, root's work for it included.
DELETE FROM jobstats.events;
DELETE FROM jobstats.rules;
SELECT count(*) FROM (SELECT jobstats_ingest('', 'oss1', at(m), ost('fs-OST0001', worked('18:1003:n01', 2700 + 9 * m) || worked('18:0:n01', 2700 + 3 * m)))
    FROM generate_series(0, 150, 10) m) m;
INSERT INTO jobstats.rules (name, operation, "by", threshold, enabled) VALUES ('much of a job', 'write_bytes', 'job', 11000000, true);
UPDATE jobstats.watch SET watched_until = at(0), rejudge_from = NULL;
CALL jobstats_detect();
SELECT value, culprits FROM found;
SELECT x.topic, regexp_replace(x.text, '\d{4}-\d\d-\d\d \d\d:\d\d|\d\d:\d\d', 'TIME', 'g') AS "text"
FROM jobstats.events e, jobstats_explain(e.event_id) x WHERE x.topic IN ('what', 'who');
-- A rule that cannot be judged keeps no other from it.
INSERT INTO jobstats.rules (name, operation, threshold, enabled) VALUES ('no such operation', 'nonsense', 2, true);
CALL jobstats_detect();
SELECT count(*) FROM jobstats.events;
-- Invalid rules.
INSERT INTO jobstats.rules (name, operation) VALUES ('no limit', 'bytes');
INSERT INTO jobstats.rules (name, operation, threshold, lasting) VALUES ('too long', 'bytes', 1, '2 hours');
INSERT INTO jobstats.rules (name, operation, threshold, "by") VALUES ('of whom', 'bytes', 1, 'node');
