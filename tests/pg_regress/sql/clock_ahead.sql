-- The clock of the database is ahead for one call of maintenance, which warns and drops no rows. The test feeds and notes a hundred days
-- ago, so that now() is a hundred days ahead.
\i store.sql
\set ECHO all
\set VERBOSITY terse
SELECT jobstats_setup(raw_retention => '300 days', retention => '300 days') IS NOT NULL AS ready \gset
UPDATE texts.clock SET zero = date_trunc('hour', now()) - interval '100 days';
CREATE FUNCTION feed(target text, minute integer) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', at(minute), ost(target, record('a.1', minute, minute * 4096)))
$$;
SELECT count(*) FROM generate_series(0, 120, 2) m, unnest(ARRAY['fs-OST0000', 'fs-OST0001']) t, feed(t, m);
CREATE VIEW held AS
SELECT (SELECT count(*) FROM jobstats.raw) AS raw, (SELECT count(*) FROM jobstats.increments) AS increments, (SELECT sum(write_bytes) FROM jobstats.increments) AS written,
    (SELECT dropped = 'epoch' FROM jobstats.refresh) AS drops_nothing;
TABLE held;
SELECT jobstats_setup(raw_retention => '1 day', retention => '2 days', rollup_10m_retention => '2 days', rollup_1h_retention => '2 days',
    rollup_1d_retention => '2 days') IS NOT NULL AS ready \gset

-- The store knew the time two hours after the first text.
UPDATE jobstats.refresh SET clock = at(120);
SET client_min_messages = error;
CALL jobstats_maintain();
CALL jobstats_maintain();
RESET client_min_messages;
TABLE held;
SELECT step, regexp_replace(problem, '\d+-\d+-\d+ [0-9:+]+', '(time)', 'g') AS problem FROM jobstats.maintenance ORDER BY began;
SELECT regexp_replace(remedy, '\d+-\d+-\d+ [0-9:+]+', '(time)', 'g') AS remedy FROM jobstats.health WHERE states = '{maintenance}' AND remedy LIKE '%clock%';
-- A text that comes now, and was read when the clock was right, is late at most.
SELECT count(*) FROM unnest(ARRAY['fs-OST0000', 'fs-OST0001']) t, feed(t, 122);
SELECT target, states, remedy FROM jobstats.health WHERE target IS NOT NULL ORDER BY target;

-- The clock is right: the file system was switched off, as its owner confirms.
SELECT jobstats_setup() IS NOT NULL AS ready \gset
CALL jobstats_maintain();
SELECT count(*) FROM jobstats.increments;
-- Maintenance goes on without new text.
UPDATE jobstats.refresh SET clock = now() - interval '1 day 23 hours';
CALL jobstats_maintain();
SELECT step, problem FROM jobstats.maintenance WHERE step = 'all' ORDER BY began DESC LIMIT 1;

-- Targets without remaining rows are shown.
SELECT target, states, server, last_observation = at(122) AS last, remedy FROM jobstats.health WHERE target IS NOT NULL ORDER BY target;

-- A clock that was ahead for long leaves horizons in the future, for which all texts are too late. Setup resets them.
UPDATE jobstats.refresh SET announced = now() + interval '100 days', horizon = now() + interval '10 days', dropped = now() + interval '10 days';
UPDATE jobstats.rollups SET refreshed = now() + interval '100 days', users_refreshed = now() + interval '100 days', dropped = now() + interval '10 days';
SELECT jobstats_setup() IS NOT NULL AS ready \gset
SELECT greatest(announced, horizon, dropped) <= now() AS healed FROM jobstats.refresh;
SELECT level, greatest(refreshed, users_refreshed, dropped) <= now() AS healed FROM jobstats.rollups ORDER BY width;
INSERT INTO jobstats.feed (server, body) VALUES ('oss1', ost('fs-OST0002', record('a.1', 1, 4096)));
SELECT pg_sleep(0.01);
INSERT INTO jobstats.feed (server, body) VALUES ('oss1', ost('fs-OST0002', record('a.1', 2, 8192)));
SELECT sum(i.write_bytes) AS written FROM jobstats.increments i JOIN jobstats.targets t USING (target_id) WHERE t.name = 'fs-OST0002';
SELECT * FROM wrong_spans();
