-- A rollup stays unchanged when its source is dropped, whatever comes later.
\i store.sql
\set ECHO all
SELECT jobstats_setup(raw_retention => '40 days', retention => '40 days') IS NOT NULL AS ready;
-- Day 30 is today, UTC.
SELECT date_bin('1 day', now(), 'epoch') - interval '30 days' AS zero \gset
CREATE FUNCTION day(days numeric) RETURNS timestamptz LANGUAGE sql IMMUTABLE RETURN timestamptz :'zero' + days * interval '1 day';
-- 4 kB a second; a text may have some of them earlier than that.
CREATE FUNCTION feed(target text, "time" timestamptz, ahead integer DEFAULT 0) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', feed."time", ost(target, record('a.1', seconds, (seconds + ahead) * 4096), record('b.2', seconds / 1000, seconds))
FROM (SELECT extract(epoch FROM feed."time" - day(0))::bigint) s (seconds)
$$;
-- One target is read for two days and then again since yesterday, one for two days across the later horizon, one for an hour.
SELECT count(*) FROM generate_series(day(1), day(3), interval '47 minutes') t, feed('fs-OST0000', t);
SELECT count(*) FROM generate_series(day(19), day(21), interval '47 minutes') t, feed('fs-OST0001', t);
SELECT count(*) FROM generate_series(day(29), day(29.9), interval '1 hour') t, feed('fs-OST0000', t);
SELECT count(*) FROM generate_series(day(5), day(5) + interval '1 hour', interval '10 minutes') t, feed('fs-OST0003', t);
CALL jobstats_maintain();

-- All rows of the levels, as a digest and as numbers that can be checked by hand.
CREATE FUNCTION levels() RETURNS TABLE (level text, rows bigint, write_bytes numeric, all_of_it text) LANGUAGE plpgsql AS $$
BEGIN
    FOR level IN SELECT l.level FROM jobstats.rollups l ORDER BY l.width LOOP
        EXECUTE format('SELECT count(*), sum(write_bytes), md5(string_agg(r::text, '' '' ORDER BY bucket, target_id, entry_id)) '
            'FROM jobstats.increments_%s r', level) INTO rows, write_bytes, all_of_it;
        RETURN NEXT;
    END LOOP;
END
$$;
-- Rollups hold the shown rows, except dirty spans.
CREATE FUNCTION held() RETURNS TABLE (level text, same boolean) LANGUAGE plpgsql AS $$
BEGIN
    FOR level IN SELECT l.level FROM jobstats.rollups l ORDER BY l.width LOOP
        EXECUTE format($f$
            SELECT NOT EXISTS (
                SELECT bucket, target_id, entry_id, first, last, resets, write, write_bytes FROM jobstats.increments_%1$s
                WHERE until <= (SELECT refreshed FROM jobstats.rollups WHERE level = '%1$s')
                EXCEPT ALL
                SELECT bucket, target_id, entry_id, first, last, resets, write, write_bytes FROM jobstats.rollup_%1$s)
        $f$, level) INTO same;
        RETURN NEXT;
    END LOOP;
END
$$;
SELECT (SELECT sum(write_bytes) FROM jobstats.increments), level, write_bytes FROM levels();
CREATE TABLE before AS SELECT * FROM levels();
CREATE VIEW changed AS (TABLE before EXCEPT ALL SELECT * FROM levels()) UNION ALL (SELECT * FROM levels() EXCEPT ALL TABLE before);

-- A late text, whose day is too old at once: it is summed before the day goes.
SELECT feed('fs-OST0001', day(19.9), 100);
SELECT jobstats_setup(raw_retention => '10 days', retention => '10 days') IS NOT NULL AS ready;
SELECT count(*) > 0 AS changed FROM changed;
TRUNCATE before;
INSERT INTO before SELECT * FROM levels();
SELECT count(*) > 0 AS dirty FROM jobstats.dirty;
CALL jobstats_maintain();
TABLE changed;
SELECT * FROM held();
SELECT min("time") >= day(20) AS dropped FROM jobstats.increments;

-- Late text before the horizon is rejected; text after it does not change rows before.
SELECT feed('fs-OST0001', day(19.95), 100), feed('fs-OST0002', day(2)), feed('fs-OST0000', day(2.5));
SELECT target, reason, count(*) FROM jobstats.rejects GROUP BY 1, 2 ORDER BY 1, 2;
TABLE changed;
-- A target that was last seen before it begins anew.
SELECT feed('fs-OST0003', day(29.99));
TABLE changed;
-- Late text of yesterday, the first text after nine days, and their refresh.
SELECT feed('fs-OST0001', day(29.99));
SELECT feed('fs-OST0000', day(29.33), 100);
CREATE VIEW old AS
SELECT '10m' AS level, i.* FROM (SELECT bucket, target_id, entry_id, first, last, resets, write, write_bytes FROM jobstats.increments_10m) i WHERE bucket < day(29)
UNION ALL
SELECT '1h' AS level, i.* FROM (SELECT bucket, target_id, entry_id, first, last, resets, write, write_bytes FROM jobstats.increments_1h) i WHERE bucket < day(29)
UNION ALL
SELECT '1d' AS level, i.* FROM (SELECT bucket, target_id, entry_id, first, last, resets, write, write_bytes FROM jobstats.increments_1d) i WHERE bucket < day(29);
SELECT level, count(*), sum(write_bytes) FROM old GROUP BY level ORDER BY level;
CREATE TABLE old_before AS TABLE old;
CALL jobstats_maintain();
CALL jobstats_maintain();
(TABLE old_before EXCEPT ALL TABLE old) UNION ALL (TABLE old EXCEPT ALL TABLE old_before);
SELECT * FROM held();

-- Longer retentions do not restore dropped rows, nor drop others: text for them stays too late.
SELECT jobstats_setup(raw_retention => '40 days', retention => '40 days') IS NOT NULL AS ready;
CALL jobstats_maintain();
SELECT feed('fs-OST0001', day(19.95), 100);
SELECT target, reason, count(*) FROM jobstats.rejects GROUP BY 1, 2 ORDER BY 1, 2;
CALL jobstats_maintain();
(TABLE old_before EXCEPT ALL TABLE old) UNION ALL (TABLE old EXCEPT ALL TABLE old_before);
SELECT * FROM held();
SELECT * FROM wrong_spans();
