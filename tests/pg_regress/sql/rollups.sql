-- Rollups: sums over ten minutes, hours and days, exact at any moment.
\i store.sql
\set ECHO all
SELECT jobstats_setup(raw_retention => '100 years', retention => '100 years') IS NOT NULL AS ready;

-- A target that is read every seven minutes for two and a half days; a job on it writes 4 kB a second.
CREATE FUNCTION feed("time" timestamptz) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', feed."time", ost('fs-OST0000', record('a.1', seconds, seconds * 4096), record('b.2', seconds / 1000, seconds))
FROM (SELECT extract(epoch FROM feed."time" - '2025-11-01')::bigint) s (seconds)
$$;
SELECT count(feed(t)) FROM generate_series(timestamptz '2025-11-01 00:07', '2025-11-03 12:00', interval '7 minutes') t
WHERE t NOT BETWEEN '2025-11-02 03:00' AND '2025-11-02 11:00';

-- The shown and the held rows of each level, compared with increments.
CREATE FUNCTION expected(width interval) RETURNS TABLE (bucket timestamptz, entry_id bigint, target_id integer,
    first timestamptz, last timestamptz, resets bigint, write bigint, write_bytes bigint) LANGUAGE sql STABLE PARALLEL SAFE AS $$
SELECT date_bin(width, "time" - interval '1 microsecond', 'epoch') + interval '1 microsecond', entry_id, target_id,
    min(since),
    -- Servers whose clock is elsewhere do not know when something was last active.
    max(least(last_active, "time")),
    count(*) FILTER (WHERE reset), sum(write)::bigint, sum(write_bytes)::bigint
FROM jobstats.increments GROUP BY 1, 2, 3
$$;
CREATE FUNCTION differences() RETURNS TABLE (level text, rows bigint, write_bytes numeric, shown bigint, held bigint)
LANGUAGE plpgsql AS $$
DECLARE
    columns text := 'bucket, entry_id, target_id, first, last, resets, write, write_bytes';
    width interval;
BEGIN
    FOR level, width IN SELECT l.level, l.width FROM jobstats.rollups l ORDER BY l.width LOOP
        EXECUTE format($f$
            SELECT (SELECT count(*) FROM jobstats.increments_%1$s), (SELECT sum(write_bytes) FROM jobstats.increments_%1$s),
                (SELECT count(*) FROM (SELECT %2$s FROM jobstats.increments_%1$s EXCEPT ALL SELECT * FROM expected(%3$L)) d)
                + (SELECT count(*) FROM (SELECT * FROM expected(%3$L) EXCEPT ALL SELECT %2$s FROM jobstats.increments_%1$s) d),
                (SELECT count(*) FROM (SELECT %2$s FROM jobstats.rollup_%1$s EXCEPT ALL SELECT * FROM expected(%3$L)) d)
                + (SELECT count(*) FROM (SELECT * FROM expected(%3$L) EXCEPT ALL SELECT %2$s FROM jobstats.rollup_%1$s) d)
        $f$, level, columns, width) INTO rows, write_bytes, shown, held;
        RETURN NEXT;
    END LOOP;
END
$$;
SELECT sum(write_bytes) FROM jobstats.increments;
-- Before the first refresh they are empty, and show all rows.
SELECT * FROM differences();
CALL jobstats_maintain();
SELECT * FROM differences();
TABLE jobstats.dirty;

-- Late text changes computed rows: views show it at once, and rollups hold it after the next refresh.
SELECT feed('2025-11-02 05:00');
INSERT INTO jobstats.feed (server, "time", body)
VALUES ('oss1', '2025-11-03 13:00', ost('fs-OST0000', record('a.1', 1, 4096), record('c.3', 1, 1))),
    ('oss1', '2025-11-03 14:00', ost('fs-OST0000', record('a.1', 10, 8192), record('c.3', 5, 5)));
SELECT count(*) > 0 AS dirty FROM jobstats.dirty;
SELECT level, shown, held > 0 AS behind FROM differences();
-- So do parallel workers, where they are left to do all of it.
BEGIN;
SET LOCAL parallel_leader_participation = off;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SELECT level, shown, held > 0 AS behind FROM differences();
COMMIT;
CALL jobstats_maintain();
SELECT * FROM differences();
TABLE jobstats.dirty;

-- Rows newer than the lag are not held yet, and shown all the same.
INSERT INTO jobstats.feed (server, body) VALUES ('oss2', ost('fs-OST0001', record('a.1', 1, 4096)));
INSERT INTO jobstats.feed (server, body) VALUES ('oss2', ost('fs-OST0001', record('a.1', 2, 8192)));
TABLE jobstats.dirty;
SELECT level, shown, held FROM differences();
CALL jobstats_maintain();
SELECT level, shown, held FROM differences();

-- Idle days that were skipped are computed once they have rows; the remaining one is newer than the lag.
INSERT INTO jobstats.feed (server, "time", body)
VALUES ('oss3', '2026-01-05 00:05', ost('fs-OST0002', record('a.1', 1, 4096))),
    ('oss3', '2026-01-05 00:20', ost('fs-OST0002', record('a.1', 10, 8192)));
SELECT level, shown, held FROM differences();
CALL jobstats_maintain();
SELECT level, shown, held FROM differences();
TABLE jobstats.dirty;

-- A job was last active before the last edges that its row crosses, or a clock that is an hour behind shows so. Increments and rollups
-- agree.
SELECT jobstats_setup(raw_retention => '100 years', retention => '100 years') IS NOT NULL AS ready;
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss4', t, ost('fs-OST0003', record('31:1000:n1', calls, calls * 4096, 0, extract(epoch FROM timestamptz '2026-01-07 10:10:59')::bigint),
    record('32:1000:n1', calls, calls * 4096, 0, extract(epoch FROM t)::bigint - 3600))
FROM (VALUES (timestamptz '2026-01-07 10:00', 10), ('2026-01-07 10:30', 1000)) v (t, calls) ORDER BY t;
CREATE VIEW activity AS
SELECT 'summary' AS of, s.job, s.first, s.last_active, s.write_bytes FROM (SELECT * FROM jobstats_summary('2026-01-07 09:00', '2026-01-07 11:00', filter => 'filesystem=fs') r, dims(r.labels)) s
UNION ALL
SELECT 'half', s.job, s.first, s.last_active, s.write_bytes FROM (SELECT * FROM jobstats_summary('2026-01-07 10:20', '2026-01-07 11:00', filter => 'filesystem=fs') r, dims(r.labels)) s
UNION ALL
SELECT 'job', '31', j.first, j.last_active, j.total FROM (SELECT * FROM jobstats_job_usage('31', since => '2026-01-07 09:00', until => '2026-01-07 11:00') r, dims(r.labels)) j
WHERE j.operation = 'write_bytes' AND j.target IS NULL;
TABLE activity;
CALL jobstats_maintain();
TABLE activity;
