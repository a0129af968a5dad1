-- A store that lacks a key, an index, a column or rows: jobstats.health shows it, and jobstats_setup() mends what can be mended.
\i store.sql
\set ECHO all
\set VERBOSITY terse
CREATE VIEW damage AS SELECT remedy FROM jobstats.health WHERE states = '{maintenance}' AND remedy LIKE 'The store is damaged%';
CREATE FUNCTION setup() RETURNS TABLE (state text, mended text) LANGUAGE sql AS $$
SELECT substring(s.message FROM 'The store of jobstats \S+ ([^:]*):'), substring(s.message FROM 'Repaired: ([^\n]*)')
FROM (SELECT jobstats_setup(raw_retention => '100 years', retention => '100 years') AS message) s
$$;
SELECT * FROM setup();
TABLE damage;
-- Nor does another session find damage, whatever its settings are.
BEGIN;
SET LOCAL timezone = 'Asia/Tokyo';
SET LOCAL datestyle = 'German';
SET LOCAL intervalstyle = 'iso_8601';
SET LOCAL quote_all_identifiers = on;
TABLE damage;
COMMIT;

-- Two days of a target that is read every hour, and writes all the time.
CREATE FUNCTION body(hour numeric) RETURNS text LANGUAGE sql AS $$ SELECT ost('fs-OST0000', record('a.1', hour, hour * 4096)) $$;
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'n1', timestamptz '2025-11-01 00:00+00' + hour * interval '1 hour', body(hour) FROM generate_series(0, 48) AS hour;
CALL jobstats_maintain();
TABLE damage;

-- What can be made again is made again.
ALTER TABLE jobstats.raw DROP CONSTRAINT raw_pkey;
ALTER TABLE jobstats.observations DROP CONSTRAINT observations_pkey;
ALTER TABLE jobstats.targets DROP CONSTRAINT targets_cluster_name_key, DROP COLUMN problems_total;
DROP INDEX jobstats.increments_time;
DROP INDEX jobstats.observations_hour;
DROP INDEX jobstats.rollup_10m_users_uid;
DROP TRIGGER check_settings ON jobstats.rollups;
DROP TRIGGER feed_insert ON jobstats.feed;
DROP TABLE jobstats.sweep;
SELECT unnest(string_to_array(remedy, ', ')) AS remedy FROM damage;
SELECT state, unnest(string_to_array(mended, ', ')) AS mended FROM setup();
TABLE damage;
SELECT * FROM setup();
INSERT INTO jobstats.feed (server, "time", body) VALUES ('n1', '2025-11-03 00:00+00', body(48));
SELECT count(*) AS observations FROM jobstats.observations;

-- Readers see it too.
CREATE ROLE regress_damaged_reader;
SELECT jobstats_grant_reader('regress_damaged_reader');
ALTER TABLE jobstats.raw DROP CONSTRAINT raw_pkey;
GRANT SELECT ON damage TO regress_damaged_reader;
SET ROLE regress_damaged_reader;
TABLE damage;
RESET ROLE;

-- A key that rows contradict cannot be restored; the warning shows the reason, and the call to repeat when they are gone.
SELECT * FROM setup();
ALTER TABLE jobstats.users DROP CONSTRAINT users_pkey;
INSERT INTO jobstats.users VALUES (1, 'anna'), (1, 'anne');
\set VERBOSITY default
SELECT * FROM setup();
\set VERBOSITY terse
TABLE damage;
DELETE FROM jobstats.users WHERE user_name = 'anne';
SELECT * FROM setup();
TABLE damage;

-- Increments of a day that observations speak of.
CREATE TABLE increments_before AS TABLE jobstats.increments;
DELETE FROM jobstats.increments WHERE "time" > '2025-11-02' AND "time" <= '2025-11-03';
SELECT * FROM setup();
INSERT INTO jobstats.increments SELECT * FROM increments_before WHERE "time" > '2025-11-02';
SELECT * FROM setup();

-- A day of a rollup that was summed: the next check, once a day, finds it, and jobstats.health shows it until it is back.
DO $$
BEGIN
    EXECUTE format('CREATE TABLE rollup_before AS SELECT * FROM %s', coalesce(
        (SELECT h.hypertable FROM jobstats_internal.hypertables() h WHERE h.relation = 'rollup_10m'), 'jobstats.rollup_10m'));
    EXECUTE format('DELETE FROM %s WHERE bucket > ''2025-11-02''', coalesce(
        (SELECT h.hypertable FROM jobstats_internal.hypertables() h WHERE h.relation = 'rollup_10m'), 'jobstats.rollup_10m'));
END
$$;
CALL jobstats_maintain();
UPDATE jobstats.maintenance SET began = began - interval '2 days' WHERE step = 'check';
CALL jobstats_maintain();
SELECT remedy FROM jobstats.health WHERE states = '{maintenance}';
CALL jobstats_maintain();
SELECT * FROM setup();
DO $$
BEGIN
    EXECUTE format('INSERT INTO %s SELECT * FROM rollup_before WHERE bucket > ''2025-11-02''', coalesce(
        (SELECT h.hypertable FROM jobstats_internal.hypertables() h WHERE h.relation = 'rollup_10m'), 'jobstats.rollup_10m'));
END
$$;
CALL jobstats_maintain();
SELECT remedy FROM jobstats.health WHERE states = '{maintenance}';
SELECT step, problem FROM jobstats.maintenance WHERE step = 'check' ORDER BY began DESC LIMIT 1;
DROP VIEW damage;
DROP OWNED BY regress_damaged_reader;
DROP ROLE regress_damaged_reader;
