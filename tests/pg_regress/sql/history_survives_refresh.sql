-- A refresh of all of a continuous aggregate, as every administrator of TimescaleDB knows it, leaves the history whose increments
-- have been dropped.
\set SHOW_CONTEXT never
SELECT coalesce(current_setting('timescaledb.license', true), '') = 'timescale' AS community \gset
\if :community
\else
\echo not run: this needs the Community edition of TimescaleDB
\q
\endif
\getenv source PG_ABS_SRCDIR
\set store :source '/include/store.sql'
\set ECHO none
\i :store
\set ECHO all
DO $$ BEGIN PERFORM jobstats_setup(raw_retention => '300 days', retention => '300 days'); END $$;
SELECT date_bin('1 day', now(), 'epoch') - interval '100 days' AS zero \gset
CREATE FUNCTION day(days numeric) RETURNS timestamptz LANGUAGE sql IMMUTABLE RETURN timestamptz :'zero' + days * interval '1 day';

-- A target that is read every hour for six days, a hundred days ago. Increments of two of them are dropped, and then those of
-- the rollup of ten minutes.
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'n1', day(0) + hour * interval '1 hour', ost('fs-OST0000', record('a.1', hour, hour * 4096), record('b.1', hour, hour))
FROM generate_series(0, 144) AS hour;
CALL jobstats_maintain();
CREATE VIEW held AS
SELECT '10m' AS level, bucket, entry_id, first, last, write, write_bytes FROM jobstats.rollup_10m
UNION ALL
SELECT '1h', bucket, entry_id, first, last, write, write_bytes FROM jobstats.rollup_1h
UNION ALL
SELECT '1d', bucket, entry_id, first, last, write, write_bytes FROM jobstats.rollup_1d;
CREATE VIEW held_increments AS SELECT count(*), min("time") = day(2) AS since_day_2 FROM jobstats.increments;
DO $$ BEGIN PERFORM jobstats_setup(raw_retention => '1 day', retention => now() - day(2.5), rollup_10m_retention => '200 days'); END $$;
CALL jobstats_maintain();
TABLE held_increments;
CREATE TABLE before AS TABLE held;
CREATE FUNCTION differences() RETURNS TABLE (level text, rows bigint, before bigint, other bigint) LANGUAGE sql AS $$
SELECT b.level, h.rows, b.rows,
    (SELECT count(*) FROM (
        (SELECT * FROM held x WHERE x.level = b.level EXCEPT ALL SELECT * FROM before x WHERE x.level = b.level)
        UNION ALL
        (SELECT * FROM before x WHERE x.level = b.level EXCEPT ALL SELECT * FROM held x WHERE x.level = b.level)) d)
FROM (SELECT level, count(*) AS rows FROM before GROUP BY 1) b
LEFT JOIN (SELECT level, count(*) AS rows FROM held GROUP BY 1) h USING (level)
ORDER BY b.rows DESC
$$;
SELECT * FROM differences();
SET client_min_messages = warning;
CALL refresh_continuous_aggregate('jobstats.rollup_10m', NULL, NULL);
SELECT * FROM differences();
CALL refresh_continuous_aggregate('jobstats.rollup_10m', NULL, NULL, force => true);
CALL refresh_continuous_aggregate('jobstats.rollup_1h', NULL, NULL, force => true);
CALL refresh_continuous_aggregate('jobstats.rollup_1d', NULL, NULL, force => true);
SELECT * FROM differences();

-- Nor is it lost from columns, or by a refresh of the hours of which the ten minutes are gone.
SELECT count(compress_chunk(c)) > 0 AS packed FROM show_chunks('jobstats.rollup_10m') AS c;
CALL refresh_continuous_aggregate('jobstats.rollup_10m', NULL, NULL, force => true);
SELECT * FROM differences();
DO $$ BEGIN PERFORM jobstats_setup(rollup_10m_retention => now() - day(2.5)); END $$;
CALL jobstats_maintain();
DELETE FROM before WHERE level = '10m' AND bucket <= day(2);
SELECT * FROM differences();
CALL refresh_continuous_aggregate('jobstats.rollup_1h', NULL, NULL, force => true);
CALL refresh_continuous_aggregate('jobstats.rollup_1d', NULL, NULL, force => true);
SELECT * FROM differences();
RESET client_min_messages;
CALL jobstats_maintain();
SELECT remedy FROM jobstats.health WHERE status = 'maintenance';

-- Without the triggers the history is gone; jobstats.health says so at the next check.
SELECT format('DROP TRIGGER keep_history_on_delete ON %s', h.hypertable) AS statement
FROM jobstats_internal.hypertables() h WHERE h.relation = 'rollup_1h' \gset
:statement;
CALL refresh_continuous_aggregate('jobstats.rollup_1h', NULL, day(2), force => true);
SELECT level, rows < before AS lost FROM differences();
UPDATE jobstats.maintenance SET began = began - interval '2 days' WHERE step = 'check';
SET client_min_messages = error;
CALL jobstats_maintain();
RESET client_min_messages;
SELECT regexp_replace(remedy, '\d{4}-\d\d-\d\d', 'DAY') AS remedy FROM jobstats.health WHERE status = 'maintenance';
