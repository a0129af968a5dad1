-- Targets and servers that ought to report are silent as long as they never did.
\i reading.sql
\set ECHO all
\pset null '(null)'

BEGIN;
CREATE FUNCTION world.ago(seconds numeric) RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT now() - seconds * interval '1 second' $$;
CREATE FUNCTION world.observe_until(cluster text, target text, server text, last numeric) RETURNS void LANGUAGE sql AS $$
SELECT observe(cluster, target, server, ARRAY(SELECT ago(last + n * 120) FROM generate_series(0, 11) AS n))
$$;
INSERT INTO jobstats.expected (cluster, server, target) VALUES
    ('', 'oss1', 'scratch-OST0000'), ('', NULL, 'scratch-OST0001'), ('', 'oss2', NULL), ('west', NULL, 'scratch-OST0000');
SELECT cluster, target, kind, server, states, last_observation, remedy FROM jobstats.health ORDER BY cluster, target, server;
SELECT line FROM regexp_split_to_table(jobstats_metrics(), '\n') AS line WHERE line ~ '^jobstats_.*state=.* 1$|^jobstats_target_[^s]|^jobstats_rejects';
-- A target that reports is as it is, on whichever server. A server that fed a target has reported, and so it has within the hour
-- after another one took its targets over; names are no patterns.
DO $$ BEGIN
    PERFORM observe_until('', 'scratch-OST0000', 'oss3', 60);
    PERFORM observe_until('', 'scratch-OST0002', 'oss2', 900);
END $$;
SELECT cluster, target, server, states FROM jobstats.health ORDER BY cluster, target, server;
DO $$ BEGIN PERFORM observe('', 'scratch-OST0002', 'oss3', ARRAY[ago(60)]); END $$;
SELECT cluster, target, server, states FROM jobstats.health ORDER BY cluster, target, server;
CREATE TEMP TABLE moved AS SELECT * FROM jobstats.observations WHERE server = 'oss2';
UPDATE moved SET "time" = "time" - interval '1 day', since = since - interval '1 day';
DELETE FROM jobstats.observations WHERE server = 'oss2';
INSERT INTO jobstats.observations SELECT * FROM moved;
INSERT INTO jobstats.expected VALUES ('', 'oss_', NULL), ('', NULL, '%');
SELECT cluster, target, server, states FROM jobstats.health ORDER BY cluster, target, server;
-- Silent by name as any other; a retired one is not.
DO $$ BEGIN PERFORM observe_until('west', 'scratch-OST0000', 'oss4', 900); END $$;
SELECT target, server, states FROM jobstats.health WHERE cluster = 'west';
SELECT jobstats_alter_target('scratch-OST0000', 'west', retired => true);
SELECT target, server, states FROM jobstats.health WHERE cluster = 'west';
INSERT INTO jobstats.targets (cluster, name, kind) VALUES ('', 'scratch-OST0001', 'OST');
SELECT states FROM jobstats.health WHERE target = 'scratch-OST0001';
SELECT jobstats_alter_target('scratch-OST0001', retired => true);
SELECT count(*) FROM jobstats.health WHERE target = 'scratch-OST0001';
-- Windows do not wait for them.
SELECT target, coverage FROM (SELECT * FROM jobstats_rates(operations => 'write_bytes') r, dims(r.labels)) AS jobstats_rates;
COMMIT;

-- The same twice, and an empty list.
INSERT INTO jobstats.expected VALUES ('', 'oss2', NULL);
INSERT INTO jobstats.expected VALUES ('', NULL, NULL);
