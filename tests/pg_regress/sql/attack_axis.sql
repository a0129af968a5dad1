-- One odd text or dropped targets do not make questions slower. Counted are calls and scans, not time.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
-- Only so that the test ends where this is not so.
SET statement_timeout = '10min';

-- One transaction, so that now() does not move. "ago" is a time that many seconds before it.
BEGIN;
CREATE FUNCTION world.ago(seconds numeric) RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT now() - seconds * interval '1 second' $$;
-- How often a function is called by a statement.
CREATE FUNCTION world.calls(function text, statement text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, TIMING off, FORMAT JSON) ' || statement INTO plan;
    RETURN sum((node ->> 'Actual Loops')::numeric)
    FROM jsonb_path_query(plan::jsonb, 'strict $.**') node WHERE node ->> 'Function Name' = calls.function;
END
$$;

-- The view quality looks at the hours that have observations, whatever lies between them.
DO $$ BEGIN
    PERFORM observe('', 'fs-OST0000', 'oss1', ARRAY[timestamptz '1970-01-02 00:00:00.000001+00', '1970-01-02 01:00+00', '1970-01-02 01:00:00.000001+00',
        '1999-12-31 23:59+00', ago(7300), ago(7200), ago(3600)]);
    PERFORM observe('', 'fs-OST0001', 'oss2', ARRAY[ago(7300), ago(3600)]);
END $$;
CREATE VIEW world.hours AS
SELECT DISTINCT date_trunc('hour', o."time" - interval '1 microsecond', 'UTC') AS hour FROM jobstats.observations o;
SELECT calls('hour_quality', 'SELECT * FROM jobstats.quality') - (SELECT count(*) FROM hours) AS more;
SELECT hour, target, observations FROM jobstats.quality WHERE hour < '2000-01-01' ORDER BY hour;
SELECT hour, target FROM jobstats.quality EXCEPT
SELECT date_trunc('hour', o."time" - interval '1 microsecond', 'UTC'), t.name
FROM jobstats.observations o JOIN jobstats.targets t USING (target_id);
SELECT date_trunc('hour', o."time" - interval '1 microsecond', 'UTC'), t.name
FROM jobstats.observations o JOIN jobstats.targets t USING (target_id) EXCEPT SELECT hour, target FROM jobstats.quality;
SELECT calls('hour_quality', 'SELECT * FROM jobstats.quality WHERE hour < ''1980-01-01''');

-- Targets that were observed ten days ago, and not since; others after a gap of nine days.
DO $$ BEGIN
    PERFORM jobstats_internal.add_partitions(relation, 'day', ago(864000), ago(864000)) FROM unnest(ARRAY['observations', 'increments']) AS relation;
    PERFORM jobstats_internal.add_partitions(relation, 'day', ago(86400), ago(-86400)) FROM unnest(ARRAY['observations', 'increments']) AS relation;
END $$;
CREATE FUNCTION world.gone(low integer, high integer) RETURNS void LANGUAGE sql AS $$
SELECT observe('', 'gone-OST' || lpad(to_hex(n), 4, '0'), 'oss8', ARRAY[ago(864000)]) FROM generate_series(low, high) AS n
$$;
CREATE FUNCTION world.back(low integer, high integer) RETURNS void LANGUAGE sql AS $$
SELECT observe('', 'back-OST' || lpad(to_hex(n), 4, '0'), 'oss9', ARRAY[ago(864000), ago(60)]),
    act('', 'back-OST' || lpad(to_hex(n), 4, '0'), '101:1000:n01', ago(864000), ago(863000), '{"read": 1}'),
    act('', 'back-OST' || lpad(to_hex(n), 4, '0'), '101:1000:n01', ago(300), ago(60), '{"read": 1}')
FROM generate_series(low, high) AS n
$$;
DO $$ BEGIN PERFORM gone(1, 5), back(1, 5); END $$;
-- How often a statement scans old rows (ten days), and increments at all.
CREATE TABLE world.parts AS
SELECT DISTINCT i.tableoid AS relid, i."time" < ago(800000) AS old, true AS increments FROM jobstats.increments i
UNION SELECT DISTINCT o.tableoid, true, false FROM jobstats.observations o WHERE o."time" = ago(864000);
CREATE FUNCTION world.scanned(OUT old_days numeric, OUT increments numeric) LANGUAGE sql AS $$
SELECT sum(s.seq_scan + coalesce(s.idx_scan, 0)) FILTER (WHERE p.old), sum(s.seq_scan + coalesce(s.idx_scan, 0)) FILTER (WHERE p.increments)
FROM world.parts p JOIN pg_stat_xact_user_tables s ON s.relid = p.relid
$$;
CREATE FUNCTION world.scans(statement text, OUT old_days numeric, OUT increments numeric) LANGUAGE plpgsql AS $$
DECLARE
    before record := world.scanned();
BEGIN
    EXECUTE statement;
    SELECT s.old_days - before.old_days, s.increments - before.increments INTO old_days, increments FROM world.scanned() s;
END
$$;
CREATE VIEW world.counted AS
SELECT statement, s.old_days, s.increments
FROM (VALUES ('SELECT * FROM jobstats_now(n => 10)'), ('SELECT * FROM jobstats_rates()'), ('SELECT * FROM jobstats_top()'),
    ('SELECT * FROM jobstats.quality WHERE hour > now() - interval ''5 hours''')) AS statements (statement)
CROSS JOIN LATERAL scans(statement) s;
CREATE TABLE world.with_five AS TABLE world.counted;
DO $$ BEGIN PERFORM gone(6, 50), back(6, 50); END $$;
-- However many they are.
SELECT c.statement, c.old_days - f.old_days AS more_old_days, c.increments - f.increments AS more_increments
FROM counted c JOIN with_five f USING (statement) ORDER BY 1;
SELECT statement, old_days FROM with_five WHERE statement LIKE '%jobstats\_%' ORDER BY 1;
SELECT count(*), min(1 / rate) AS seconds, max(1 / rate) FROM jobstats_now('back*', 10);
ROLLBACK;
