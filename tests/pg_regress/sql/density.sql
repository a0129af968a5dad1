-- jobstats_density_agg: how many values lie in which power.
CREATE EXTENSION jobstats;
\pset null '(null)'
CREATE TABLE rates (hour integer, username text, rate double precision);
INSERT INTO rates VALUES
    (8, 'ada', 0.5), (8, 'bob', 12), (8, 'carl', 1000), (8, 'dora', 0), (8, 'emil', 3),
    (9, 'ada', 999.99), (9, 'bob', 10), (9, 'carl', 0), (9, 'dora', 0.001), (9, 'emil', 4);

SELECT hour, bucket, lower, upper, count
FROM (SELECT hour, jobstats_density_agg(rate) AS density FROM rates GROUP BY hour) densities, jobstats_density_buckets(density)
ORDER BY hour, bucket;

SELECT hour, jobstats_density_count(density) AS count, jobstats_density_zeros(density) AS zeros, density
FROM (SELECT hour, jobstats_density_agg(rate) AS density FROM rates GROUP BY hour) densities
ORDER BY hour;

-- With the buckets between, in which there is nothing.
WITH found AS (SELECT b.* FROM (SELECT jobstats_density_agg(rate) AS density FROM rates WHERE hour = 9) d, jobstats_density_buckets(density) b)
SELECT bucket, coalesce(count, 0) AS count
FROM generate_series((SELECT min(bucket) FROM found), (SELECT max(bucket) FROM found)) bucket
LEFT JOIN found USING (bucket)
ORDER BY bucket;

-- Every power of ten that a double can hold is the first value of its own bucket.
SELECT count(*) AS powers, count(*) FILTER (WHERE b.bucket = y AND b.lower = ('1e' || y)::float8) AS right_bucket
FROM (SELECT y, jobstats_density_agg(('1e' || y)::float8) AS density FROM generate_series(-307, 308) y GROUP BY y) powers,
    jobstats_density_buckets(density) b;
-- The ends: the smallest and the largest double, zero with either sign.
SELECT base, b.*
FROM (VALUES (2), (10), (100)) bases (base),
    LATERAL (SELECT jobstats_density_agg(x, base) AS density FROM (VALUES (float8 '4.94065645841247e-324'), (1.7976931348623157e308)) ends (x)) d,
    jobstats_density_buckets(density) b
ORDER BY base, bucket;
SELECT jobstats_density_zeros(jobstats_density_agg(x)) AS zeros, jobstats_density_count(jobstats_density_agg(x)) AS count
FROM (VALUES (float8 '0'), ('-0'), (1)) zeros (x);

-- Other bases.
SELECT b.* FROM (SELECT jobstats_density_agg(n, 2) AS density FROM generate_series(0, 16) n) d, jobstats_density_buckets(density) b ORDER BY bucket;

-- NULL is passed over; nothing has no density, and none has no rows.
SELECT jobstats_density_agg(x) AS density FROM (VALUES (5::float8), (NULL), (50)) few (x);
SELECT jobstats_density_agg(NULL) AS nothing, jobstats_density_agg(1, NULL) AS no_base;
SELECT jobstats_density_agg(rate) AS nothing FROM rates WHERE false;
SELECT jobstats_density_count(NULL), jobstats_density_zeros(NULL), (SELECT count(*) FROM jobstats_density_buckets(NULL)) AS rows;

-- A rollup of any parts is that of the whole, in any order.
SELECT jobstats_rollup(density) = (SELECT jobstats_density_agg(rate) FROM rates) AS same, jobstats_rollup(density) AS density
FROM (SELECT jobstats_density_agg(rate ORDER BY rate DESC) AS density FROM rates GROUP BY hour) parts;
SELECT jobstats_rollup(NULL::jobstats_density) AS nothing FROM rates;
-- As a window function.
SELECT username, jobstats_density_agg(rate) OVER (ORDER BY username ROWS 1 PRECEDING) AS density
FROM rates WHERE hour = 8 ORDER BY username;
SELECT count(*) AS groups, sum(jobstats_density_count(density)) AS count
FROM (SELECT jobstats_density_agg(n) AS density FROM generate_series(1, 50000) n GROUP BY n % 5000) groups;

-- Errors.
SELECT jobstats_density_agg(-1);
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_density_agg('infinity');
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_density_agg('NaN');
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_density_agg(1, 1);
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_density_agg(1, 101);
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_density_agg(1, base) FROM (VALUES (10), (2)) bases (base);
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_rollup(density)
FROM (SELECT jobstats_density_agg(1, base) AS density FROM (VALUES (10), (2)) bases (base) GROUP BY base ORDER BY base DESC) two;
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_rollup(density::jobstats_density)
FROM (VALUES ('v1 base=10 zeros=9223372036854775806 0:1'), ('v1 base=10 zeros=0 3:1')) full_ones (density);
\echo :LAST_ERROR_SQLSTATE

-- Text and bytes, which later versions read too.
CREATE TABLE stored AS SELECT hour, jobstats_density_agg(rate) AS density FROM rates GROUP BY hour;
SELECT regexp_replace(encode(jobstats_internal.density_send(density), 'hex'), '(.{20})', E'\\1 ', 'g') AS bytes FROM stored WHERE hour = 9;
SELECT 'v1 base=10 zeros=1 -3:1 3:2'::jobstats_density AS density;
SELECT 'v1 base=10 zeros=1 3:2 -3:1'::jobstats_density;
\echo :LAST_ERROR_SQLSTATE
SELECT 'v1 base=1 zeros=1'::jobstats_density;
\echo :LAST_ERROR_SQLSTATE
SELECT ''::jobstats_density;
\echo :LAST_ERROR_SQLSTATE

-- A table with densities is dumped and restored, as text and binary; a large one is stored out of line.
INSERT INTO stored
SELECT 0, jobstats_density_agg(power(2::float8, n) * (1 + m), 2) FROM generate_series(-1000, 1000) n, generate_series(0, 1) m;
SELECT hour, pg_column_size(density) > 2000 AS large, jobstats_density_count(density) AS count, (SELECT count(*) FROM jobstats_density_buckets(density)) AS buckets
FROM stored ORDER BY hour;
SELECT current_setting('data_directory') || '/density.copy' AS file \gset
CREATE TABLE restored (LIKE stored);
COPY stored TO :'file';
COPY restored FROM :'file';
COPY stored TO :'file' (FORMAT binary);
COPY restored FROM :'file' (FORMAT binary);
SELECT count(*) AS different FROM (SELECT DISTINCT density FROM restored) densities;
SELECT a.hour, b.hour FROM stored a JOIN stored b ON a.density <> b.density WHERE a.hour < b.hour ORDER BY 1, 2;

-- Bytes that are no density are refused where they come in, and an error where they are stored.
CREATE TABLE bytes AS SELECT 1 AS hour, '\x0102'::bytea AS density;
COPY bytes TO :'file' (FORMAT binary);
COPY restored FROM :'file' (FORMAT binary);
\echo :LAST_ERROR_SQLSTATE
CREATE CAST (bytea AS jobstats_density) WITHOUT FUNCTION;
SELECT jobstats_density_count(density::jobstats_density) FROM bytes;
\echo :LAST_ERROR_SQLSTATE
DROP CAST (bytea AS jobstats_density);

-- The extension cannot go without the columns that hold densities.
DROP TABLE restored;
DROP EXTENSION jobstats;
\echo :LAST_ERROR_SQLSTATE
