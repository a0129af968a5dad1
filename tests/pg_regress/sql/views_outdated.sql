-- Views of the store that have other columns, as after a new operation, are made anew, with the rights on them, unless somebody depends on
-- them.
\i reading.sql
\set ECHO all
\pset null '(null)'

DO $$ BEGIN
    PERFORM observe('scratch-OST0000', 'oss1', 0, 10, 15);
    PERFORM act('scratch-OST0000', '101:1000:n01', 0, 10, '{"write": 600, "write_usecs": 1200}');
    PERFORM act('scratch-OST0000', '101:1000:n01', 10, 15, '{"write": 60}');
END $$;
-- Rows are of (since, until]; a bucket keeps its time.
SELECT view, since, until, write FROM (
    SELECT 'rates' AS view, since, until, write FROM jobstats.rates
    UNION ALL SELECT 'rates_10m', since, until, write FROM jobstats.rates_10m
    UNION ALL SELECT 'rates_1h', since, until, write FROM jobstats.rates_1h
    UNION ALL SELECT 'rates_1d', since, until, write FROM jobstats.rates_1d
    UNION ALL SELECT 'increments_10m', since, until, write FROM jobstats.increments_10m
    UNION ALL SELECT 'increments_1h', since, until, write FROM jobstats.increments_1h
    UNION ALL SELECT 'increments_1d', since, until, write FROM jobstats.increments_1d) v
ORDER BY view, since;
SELECT bucket, since, until FROM jobstats.increments_1h;

-- With another name of a column.
CREATE FUNCTION make_other() RETURNS void LANGUAGE plpgsql SET client_min_messages = warning AS $$
DECLARE
    view text;
BEGIN
    FOREACH view IN ARRAY '{rates,rates_10m,rates_1h,rates_1d,increments_10m,increments_1h,increments_1d}'::text[] LOOP
        EXECUTE format('ALTER VIEW jobstats.%I RENAME COLUMN until TO "time"', view);
    END LOOP;
END
$$;
DO $$ BEGIN PERFORM make_other(); END $$;
CREATE ROLE regress_views_reader;
CREATE ROLE "Regress views";
GRANT USAGE ON SCHEMA jobstats TO regress_views_reader;
GRANT SELECT ON jobstats.rates, jobstats.increments_1h TO regress_views_reader;
GRANT SELECT ON jobstats.rates_1h TO "Regress views" WITH GRANT OPTION;
GRANT SELECT (since, "time", write), UPDATE (write) ON jobstats.rates_10m TO regress_views_reader;
GRANT SELECT ON jobstats.rates_1d TO PUBLIC;
CREATE VIEW rights AS
SELECT c.relname, NULL AS column, a.privilege_type, a.grantee::regrole, a.is_grantable FROM pg_class c, aclexplode(c.relacl) a
WHERE c.relnamespace = 'jobstats'::regnamespace AND c.relkind = 'v' AND a.grantee <> c.relowner
UNION ALL
SELECT c.relname, t.attname, a.privilege_type, a.grantee::regrole, a.is_grantable FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid, aclexplode(t.attacl) a
WHERE c.relnamespace = 'jobstats'::regnamespace
ORDER BY 1, 2, 3, 4;
TABLE rights;
-- All dependent objects are listed at once, and no view changes.
CREATE VIEW on_rates AS SELECT "time", write FROM jobstats.rates;
CREATE VIEW on_view AS SELECT write FROM on_rates;
CREATE MATERIALIZED VIEW world.by_hour AS SELECT "time", sum(write) AS write FROM jobstats.increments_1h GROUP BY 1;
CREATE FUNCTION world.of_row(jobstats.rates_1d) RETURNS double precision LANGUAGE sql AS 'SELECT $1.write';
SELECT jobstats_setup();
\echo :LAST_ERROR_SQLSTATE
TABLE on_rates;
SELECT count(*) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
WHERE c.relnamespace = 'jobstats'::regnamespace AND c.relkind = 'v' AND a.attname = 'time' AND (c.relname LIKE 'rates%' OR c.relname LIKE 'increments_1%');
DROP VIEW on_view, on_rates;
DROP FUNCTION world.of_row;
DROP MATERIALIZED VIEW world.by_hour;
-- Without these they are made anew, with the rights that there were.
SELECT jobstats_setup() IS NOT NULL AS ready;
TABLE rights;
SELECT since, until, write FROM jobstats.rates ORDER BY since;
SELECT count(*) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
WHERE c.relnamespace = 'jobstats'::regnamespace AND a.attname = 'until' AND col_description(c.oid, a.attnum) IS NOT NULL;
-- A view that can be replaced in place keeps what depends on it.
CREATE VIEW on_rates AS SELECT until, write FROM jobstats.rates;
SELECT jobstats_setup() IS NOT NULL AS ready;
SELECT count(*) FROM on_rates;
DROP VIEW on_rates;
-- One of them may be missing.
DO $$ BEGIN PERFORM make_other(); END $$;
DROP VIEW jobstats.rates_10m;
SELECT jobstats_setup() IS NOT NULL AS ready;
SELECT since, until, write FROM jobstats.rates_10m ORDER BY since;
DROP VIEW rights;
DROP OWNED BY regress_views_reader, "Regress views";
DROP ROLE regress_views_reader, "Regress views";
