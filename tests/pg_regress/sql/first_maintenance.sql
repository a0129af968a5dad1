-- The first maintenance comes after 120 days, and after a shorter retention was set. It drops rows only after all rollups with a longer
-- retention have summed them.
\i store.sql
\set ECHO all
SELECT jobstats_setup(raw_retention => '150 days', retention => '150 days') IS NOT NULL AS ready;
SELECT date_bin('1 day', now(), 'epoch') - interval '120 days' AS zero \gset
CREATE FUNCTION day(days numeric) RETURNS timestamptz LANGUAGE sql IMMUTABLE RETURN timestamptz :'zero' + days * interval '1 day';
-- Two hours of each of some days: a write of 4 kB each second.
SELECT count(*)
FROM unnest(ARRAY[0, 20, 60, 114, 118, 119]::bigint[]) AS of, generate_series(0, 120, 10) AS minute, LATERAL (
    SELECT jobstats_ingest('', 'oss1', day(of) + minute * interval '1 minute',
        ost('fs-OST0000', record('a.1', of * 10000 + minute * 60, (of * 10000 + minute * 60) * 4096)))
    ) AS fed;
SELECT operation, total FROM jobstats_totals(day(-1), day(120), 'write_bytes,write', '');
SELECT jobstats_setup(raw_retention => '1 day', retention => '2 days', rollup_10m_retention => '2 days') IS NOT NULL AS ready;
CALL jobstats_maintain();
SELECT min("time") >= day(117) AS increments FROM jobstats.increments;
SELECT min(bucket) >= day(117) AS minutes FROM jobstats.rollup_10m;
SELECT count(DISTINCT bucket) AS hours, sum(write_bytes) FROM jobstats.increments_1h;
SELECT count(DISTINCT bucket) AS days, sum(write_bytes) FROM jobstats.increments_1d;
SELECT operation, total FROM jobstats_totals(day(-1), day(120), 'write_bytes,write', '');
SELECT step, problem FROM jobstats.maintenance WHERE problem IS NOT NULL;
SELECT * FROM wrong_spans();
