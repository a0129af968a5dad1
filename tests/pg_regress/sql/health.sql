-- The view health: whether all is well with monitoring, and what to do if not.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'

-- One transaction, so that now() does not move. "ago" is a time that many seconds before it.
BEGIN;
CREATE FUNCTION world.ago(seconds numeric) RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT now() - seconds * interval '1 second' $$;
-- Observations every interval, the last one that many seconds ago.
CREATE FUNCTION world.observe_until(target text, server text, last numeric, step numeric) RETURNS void LANGUAGE sql AS $$
SELECT observe('', target, server, ARRAY(SELECT ago(last + n * step) FROM generate_series(0, 11) AS n))
$$;
CREATE FUNCTION world.set_last(target text, duration interval, delay interval) RETURNS void LANGUAGE sql AS $$
UPDATE jobstats.observations o SET duration = set_last.duration, received = o."time" + delay
FROM (SELECT t.target_id, max(o."time") AS "time" FROM jobstats.observations o JOIN jobstats.targets t USING (target_id)
    WHERE t.name = target GROUP BY t.target_id) AS last
WHERE o.target_id = last.target_id AND o."time" = last."time"
$$;
SELECT * FROM jobstats.health;
DO $$ BEGIN
    PERFORM observe_until('scratch-MDT0000', 'mds1', 60, 120);
    PERFORM observe_until('scratch-OST0000', 'oss1', 599, 120);
    PERFORM observe_until('scratch-OST0001', 'oss1', 601, 120);
    PERFORM observe_until('scratch-OST0002', 'oss1', 601, 240);
    PERFORM observe_until('scratch-OST0003', 'oss2', 60, 120);
    PERFORM set_last('scratch-OST0003', '1 second', '3 minutes');
    PERFORM observe_until('scratch-OST0004', 'oss2', 60, 120);
    PERFORM set_last('scratch-OST0004', '61 seconds', '62 seconds');
    PERFORM observe_until('scratch-OST0005', 'oss3', 60, 119.998814);
    PERFORM set_last('scratch-OST0005', '1 second', '-11 seconds');
    PERFORM observe_until('scratch-OST0006', 'oss4', 60, 120);
    PERFORM observe_until('scratch-OST0007', 'oss4', 60, 120);
    PERFORM observe_until('scratch-OST0008', 'oss5', 60, 120);
    PERFORM observe_until('scratch-OST0009', 'oss6', 60, 300);
    PERFORM observe('', 'scratch-OST000a', 'oss7', ARRAY[ago(30)]);
END $$;
INSERT INTO jobstats.rejects ("time", received, cluster, server, target, line, reason, text) VALUES
    (ago(9999), ago(3500), '', 'oss4', 'scratch-OST0006', 3, 'unclosed', 'read_bytes: {'),
    (ago(3700), ago(3700), '', 'oss4', 'scratch-OST0007', 3, 'unclosed', 'read_bytes: {'),
    (ago(60), ago(60), 'other', 'oss4', 'scratch-OST0007', 3, 'unclosed', 'read_bytes: {'),
    (ago(60), ago(60), '', 'oss5', NULL, NULL, 'clock', 'obdfilter'),
    -- Text of unknown targets and servers; text of the wrong sender does not count.
    (ago(9999), ago(60), '', 'oss9', 'scratch-OST0033', NULL, 'too late', ''),
    (ago(9999), ago(50), '', 'oss9', NULL, NULL, 'no target', 'read_bytes'),
    (ago(9999), ago(3700), '', 'oss10', 'scratch-OST0034', NULL, 'too late', ''),
    (ago(60), ago(60), '', 'oss8', 'scratch-OST0035', NULL, 'not yours', '');
SELECT target, server, states, now() - last_observation AS ago, delay, usual_interval, remedy
FROM jobstats.health ORDER BY target, server;
DELETE FROM jobstats.rejects WHERE cluster = 'other' OR server = 'oss9';
SELECT target, states, remedy FROM jobstats.health WHERE states && '{silent,slow}' ORDER BY target;

-- Entries may be gone before they are read where the cleanup interval is under twice the usual one; 0 is never.
UPDATE jobstats.targets SET cleanup_interval = '239 seconds' WHERE name = 'scratch-MDT0000';
UPDATE jobstats.targets SET cleanup_interval = '240 seconds' WHERE name = 'scratch-OST0003';
UPDATE jobstats.targets SET cleanup_interval = '0' WHERE name = 'scratch-OST0006';
UPDATE jobstats.targets SET cleanup_interval = '30 seconds' WHERE name = 'scratch-OST0009';
SELECT target, states, cleanup_interval, remedy FROM jobstats.health
WHERE target IN ('scratch-MDT0000', 'scratch-OST0003', 'scratch-OST0006', 'scratch-OST0009') ORDER BY target;
-- Where it is not shipped, 600 s are assumed.
UPDATE jobstats.targets SET cleanup_interval = NULL;
DELETE FROM jobstats.observations o USING jobstats.targets t WHERE t.target_id = o.target_id AND t.name = 'scratch-MDT0000';
DO $$ BEGIN
    PERFORM observe_until('scratch-MDT0000', 'mds1', 60, 301);
END $$;
SELECT target, states, remedy FROM jobstats.health WHERE 'cleanup' = ANY (states) ORDER BY target;

-- Most identifiers match no format: the likely one, and how to add it.
DO $$ BEGIN
    PERFORM act('', 'scratch-OST0007', 'dd@' || 1000 + n || '@r01c' || n, ago(180), ago(60), '{"read": 1}') FROM generate_series(10, 14) AS n;
    PERFORM act('', 'scratch-OST0007', '101:1000:n' || n, ago(180), ago(60), '{"read": 1}') FROM generate_series(1, 5) AS n;
END $$;
SELECT states, remedy FROM jobstats.health WHERE target = 'scratch-OST0007';
DO $$ BEGIN
    PERFORM act('', 'scratch-OST0007', 'cp@1000@r01c01', ago(180), ago(60), '{"read": 1}');
END $$;
SELECT states, remedy FROM jobstats.health WHERE target = 'scratch-OST0007';
INSERT INTO jobstats.entry_formats SELECT max(priority) + 1, '%e@%u@%H' FROM jobstats.entry_formats;
SELECT jobstats_reidentify();
SELECT states, remedy FROM jobstats.health WHERE target = 'scratch-OST0007';
-- Their appearance cannot always be guessed.
UPDATE jobstats.entries SET status = 'malformed', name = 'a b ' || entry_id;
SELECT states, remedy FROM jobstats.health WHERE target = 'scratch-OST0007';

-- The store itself is shown where its maintenance needs care: overdue, or with a problem.
CREATE VIEW world.store AS
SELECT states, target, replace(remedy, date_trunc('second', ago(3600))::text, '(an hour ago)') AS remedy
FROM jobstats.health WHERE target IS NULL;
TABLE store;
UPDATE jobstats.observations SET received = ago(3601) WHERE "time" = (SELECT min("time") FROM jobstats.observations);
TABLE store;
INSERT INTO jobstats.maintenance (step, began, took, affected, problem) VALUES
    ('all', ago(3610), '10 seconds', 0, NULL), ('refresh', ago(60), '10 seconds', 0, 'a feed has been running for too long');
TABLE store;
INSERT INTO jobstats.maintenance (step, began, took, affected, problem) VALUES ('all', ago(3609), '10 seconds', 0, NULL);
TABLE store;
INSERT INTO jobstats.maintenance (step, began, took, affected, problem) VALUES ('all', ago(600), '10 seconds', 0, 'partitions of raw: it is in use');
TABLE store;
INSERT INTO jobstats.maintenance (step, began, took, affected, problem) VALUES ('all', ago(60), '10 seconds', 0, NULL);
TABLE store;
ROLLBACK;
