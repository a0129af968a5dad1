-- jobstats_watch() finds events, keeps them and tells of them.
\getenv source PG_ABS_SRCDIR
\set store :source '/include/store.sql'
\set ECHO none
\i :store
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
CREATE FUNCTION every_two(since numeric, until numeric) RETURNS numeric[] LANGUAGE sql IMMUTABLE AS $$
SELECT array_agg(m) FROM generate_series(since, until, 2) m
$$;
CREATE VIEW events AS
SELECT kind, severity, filesystem AS fs, minute(began) AS began, minute(found) AS found, minute(until) AS until, minute(ended) AS ended, targets, servers,
    round(value::numeric, 4) AS value, round(usual::numeric, 4) AS usual, round(rate::numeric, 2) AS rate, reason, told IS NOT NULL AS told,
    withdrawn IS NOT NULL AS withdrawn
FROM jobstats.events ORDER BY jobstats.events.began, kind;

-- Nothing was fed.
CALL jobstats_watch();
-- What is usual: ten days of hours.
INSERT INTO jobstats.server_hours (bucket, observed_usecs, requests, wait_usecs, depth, active, cluster, server, service)
SELECT h + interval '1 microsecond', 3600000000, 6000, 6000 * 2000, 0, 0, '', 'mds1', 'mdt'
FROM generate_series(at(0) - interval '240 hours', at(-60) - interval '1 hour', interval '1 hour') h;
LISTEN jobstats_events;
SELECT feed(VARIADIC every_two(0, 64));
CALL jobstats_watch();
TABLE events;
SELECT feed(66);
-- Without the number of the process.
\o | sed 's/ received from.*//'
CALL jobstats_watch();
\o
TABLE events;
SELECT feed(VARIADIC every_two(68, 100));
CALL jobstats_watch();
SELECT feed(VARIADIC every_two(102, 120));
CALL jobstats_watch();
TABLE events;
-- Once more, nothing changes.
CREATE TABLE before AS SELECT * FROM jobstats.events;
CALL jobstats_watch();
UPDATE jobstats.watch SET rejudge_from = at(-600);
CALL jobstats_watch();
SELECT minute(watched_until) AS watched, rejudge_from FROM jobstats.watch;
TABLE before EXCEPT TABLE jobstats.events;
SELECT kind, severity, ended IS NOT NULL AS ended, culprits, precision FROM jobstats_events(at(0));
