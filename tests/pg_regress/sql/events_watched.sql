-- Repeated calls of jobstats_detect() give the events of a single call for the day, also hours after they began.
\i store.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
-- A metadata server and its target are read every two minutes, until three hours before minute 0. From minute 60 to 81 and from 240 to 510 a user
-- opens files as no one did before, more and more of them, and requests wait for 200 ms instead of 2.
CREATE FUNCTION storm(minute numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
SELECT least(greatest(minute, 60), 81) - 60 + least(greatest(minute, 240), 510) - 240
$$;
CREATE FUNCTION feed(minute numeric) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT '', 'mds1', at(minute - 840), mdt('fs-MDT0000', life('17:1001:n01', at(-960), 6000 + 90 * minute, 100 * (6000 + 90 * minute)),
        life('4711:1002:n02', at(-960), 100 + floor(900 * s + 9 * s * s), 1000 * (100 + 900 * s)))
    || stats('mds.MDS.mdt.stats', at(minute - 840), at(-960), jsonb_build_object('req_waittime', 6000 + 100 * minute + 900 * s,
        'req_waittime_usecs', 12000000 + 200000 * (minute - s) + floor(200000000 * s + 100000 * s * s), 'req_qdepth', 0, 'req_active', 0))
FROM storm(minute) AS s
$$;
INSERT INTO jobstats.server_hours (bucket, observed_usecs, requests, wait_usecs, depth, active, cluster, server, service)
SELECT h + interval '1 microsecond', 3600000000, 6000, 6000 * 2000, 0, 0, '', 'mds1', 'mdt'
FROM generate_series(at(-840) - interval '260 hours', at(-960), interval '1 hour') h;
INSERT INTO jobstats.rules (name, operation, threshold, lasting, enabled) VALUES ('many opens', 'open', 12, '10 minutes', true);
DO $$ BEGIN
    FOR minute IN 0..660 BY 2 LOOP
        PERFORM feed(minute);
        CALL jobstats_detect();
    END LOOP;
END $$;
CREATE VIEW events AS
SELECT kind, minute(began) + 840 AS began, minute(found) + 840 AS found, minute(until) + 840 AS until, minute(ended) + 840 AS ended, minute(confirmed) + 840 AS confirmed,
    targets, servers, value, usual, rate, culprits, details
FROM jobstats.events ORDER BY jobstats.events.kind, jobstats.events.began;
SELECT kind, began, found, until, ended, confirmed, round(value::numeric, 4) AS value, round(usual::numeric, 4) AS usual, round(rate::numeric, 4) AS rate FROM events;
CREATE TABLE often AS SELECT to_jsonb(e) AS event FROM events e;
DELETE FROM jobstats.events;
UPDATE jobstats.watch SET watched_until = NULL, rejudge_from = NULL;
CALL jobstats_detect();
SELECT count(*) AS events, count(o.event) AS equal FROM events e LEFT JOIN often o ON o.event = to_jsonb(e);
SELECT key, o.event -> key AS often, to_jsonb(e) -> key AS once
FROM events e JOIN often o ON o.event ->> 'kind' = e.kind AND (o.event ->> 'began')::numeric = e.began, jsonb_object_keys(o.event) AS key
WHERE o.event -> key IS DISTINCT FROM to_jsonb(e) -> key;
