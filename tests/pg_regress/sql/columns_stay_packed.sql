-- Columns stay packed: what late text has changed is packed again, and rollups are packed, refreshed and dropped by the day.
SELECT coalesce(current_setting('timescaledb.license', true), '') = 'timescale' AS community \gset
\if :community
\else
\echo not run: this needs the Community edition of TimescaleDB
\q
\endif
\i store.sql
\set ECHO all
SELECT jobstats_setup(raw_retention => '100 years', retention => '100 years', rollup_10m_retention => '100 years') IS NOT NULL AS ready;
UPDATE texts.clock SET zero = '2025-11-01 00:00+00';

CREATE VIEW chunks AS
SELECT h.relation, format('%I.%I', c.chunk_schema, c.chunk_name)::regclass AS chunk, c.range_start, c.range_end, c.is_compressed AS packed,
    k.status & 8 <> 0 AS partial, p.table_name AS columns
FROM jobstats_internal.hypertables() h
JOIN timescaledb_information.chunks c ON format('%I.%I', c.hypertable_schema, c.hypertable_name)::regclass = h.hypertable
JOIN _timescaledb_catalog.chunk k ON k.schema_name = c.chunk_schema AND k.table_name = c.chunk_name
LEFT JOIN _timescaledb_catalog.chunk p ON p.id = k.compressed_chunk_id;
CREATE FUNCTION packed(columns name) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    found bigint;
BEGIN
    EXECUTE format('SELECT sum(_ts_meta_count) FROM _timescaledb_internal.%I', columns) INTO found;
    RETURN found;
END
$$;
CREATE VIEW kept AS
SELECT c.relation, count(*) AS chunks, count(*) FILTER (WHERE c.packed) AS packed, count(*) FILTER (WHERE c.partial) AS partial
FROM chunks c WHERE c.relation IN ('increments', 'rollup_10m', 'rollup_10m_users', 'target_increments', 'rollup_10m_targets', 'server_increments')
GROUP BY 1 ORDER BY 1;
CREATE FUNCTION pack() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WHILE jobstats_internal.compress_before('2025-11-03 00:00:01+00') IS NOT NULL LOOP
    END LOOP;
END
$$;

-- A target with fifty entries, all of them at work, for three days. The day in the middle has 7,200 buckets of ten minutes. The
-- target and a service of its server count by themselves.
CREATE FUNCTION body(minute numeric) RETURNS text LANGUAGE sql AS $$
SELECT ost('fs-OST0000', VARIADIC ARRAY(SELECT record('a.' || n, minute, minute * 4096) FROM generate_series(1, 50) AS n))
    || stats('obdfilter.fs-OST0000.stats', at(minute), at(-60), jsonb_build_object('write_bytes', minute * 50 * 4096 + 1))
    || stats('ost.OSS.ost_io.stats', at(minute), at(-60), jsonb_build_object('req_waittime', minute * 60 + 1))
$$;
INSERT INTO jobstats.feed (server, "time", body) SELECT 'n1', at(m), body(m) FROM generate_series(0, 4300, 10) AS m;
CALL jobstats_maintain();
SELECT pack();
TABLE kept;
-- The audit reads packed chunks.
SELECT * FROM jobstats_audit(at(0), at(3000));

-- Rollups have chunks of a day, of a week, and of a month; batches of their columns lie in the order of time.
CREATE VIEW chosen AS
SELECT h.relation, d.time_interval, h.packed_by
FROM jobstats_internal.hypertables() h
JOIN timescaledb_information.dimensions d ON format('%I.%I', d.hypertable_schema, d.hypertable_name)::regclass = h.hypertable
WHERE h.relation LIKE 'rollup%' ORDER BY 1;
TABLE chosen;

-- Late text at noon of the second day: its rows, and two buckets of ten minutes of fifty entries, are unpacked, and at most the
-- batches of 1,000 rows that they lie in.
CREATE VIEW beside AS
SELECT 'target_increments' AS relation, sum(i.write_bytes) AS sum, sum(i.observed_usecs) AS observed FROM jobstats.target_increments i
UNION ALL
SELECT 'rollup_10m_targets', sum(r.write_bytes), sum(r.observed_usecs) FROM jobstats.rollup_10m_targets r
UNION ALL
SELECT 'server_increments', sum(s.requests), sum(extract(epoch FROM s."time" - s.since)) * 1000000 FROM jobstats.server_increments s;
SELECT relation, sum, observed::bigint FROM beside;
CREATE TABLE stored AS SELECT i.entry_id, sum(i.write_bytes) AS write_bytes, count(*) FROM jobstats.increments i GROUP BY 1;
INSERT INTO jobstats.feed (server, "time", body) VALUES ('n1', at(2165), body(2165));
-- While its increments are not summed, more may come: they are left as they are.
SELECT count(*) > 0 AS dirty FROM jobstats.dirty;
SELECT relation, partial FROM kept WHERE relation LIKE '%increments' OR relation LIKE '%targets';
SELECT jobstats_internal.compress_before(now(), again => true);
CALL jobstats_maintain();
TABLE jobstats.dirty;
TABLE kept;
SELECT 7200 - packed(columns) BETWEEN 50 AND 2000 AS unpacked_little FROM chunks WHERE relation = 'rollup_10m' AND partial;

-- Old chunks are packed again, each in a maintenance step, and answers stay the same.
DO $$ BEGIN PERFORM jobstats_setup(raw_retention => '2 days', compress_after => '7 days'); END $$;
SELECT max(began) AS before FROM jobstats.maintenance \gset
CALL jobstats_maintain();
TABLE kept;
SELECT step, count(*) > 0 AS steps, bool_and(problem IS NULL) AS right FROM jobstats.maintenance
WHERE began > :'before' AND step LIKE 'columns of %' GROUP BY step ORDER BY step;
SELECT packed(columns) FROM chunks WHERE relation = 'rollup_10m' AND range_start = '2025-11-02 00:00+00';
SELECT count(*) AS entries, count(*) FILTER (WHERE n.write_bytes = s.write_bytes) AS same
FROM stored s JOIN (SELECT i.entry_id, sum(i.write_bytes) AS write_bytes FROM jobstats.increments i GROUP BY 1) n USING (entry_id);
SELECT relation, sum, observed::bigint FROM beside;
SELECT count(*) FROM (
    SELECT bucket, entry_id, write_bytes FROM jobstats.rollup_10m
    EXCEPT ALL
    SELECT date_bin('10 minutes', "time" - interval '1 microsecond', 'epoch') + interval '1 microsecond', entry_id, sum(write_bytes)::bigint
    FROM jobstats.increments GROUP BY 1, 2) d;
-- No chunk remains to be packed.
SELECT max(began) AS before FROM jobstats.maintenance \gset
CALL jobstats_maintain();
SELECT count(*) FROM jobstats.maintenance WHERE began > :'before' AND step LIKE 'columns of %';

-- Sums by user, which jobstats_reidentify() has computed anew, are packed again too.
SELECT jobstats_reidentify() >= 0 AS reidentified;
CALL jobstats_maintain();
SELECT relation, partial FROM kept;

-- A shorter retention of the rollup of ten minutes drops its chunks of days, not of ten days at once.
DO $$ BEGIN PERFORM jobstats_setup(retention => now() - '2025-11-02 12:00+00', rollup_10m_retention => now() - '2025-11-02 12:00+00'); END $$;
CALL jobstats_maintain();
SELECT relation, min(range_start) FROM chunks WHERE relation IN ('increments', 'rollup_10m', 'target_increments', 'server_increments') GROUP BY 1 ORDER BY 1;
