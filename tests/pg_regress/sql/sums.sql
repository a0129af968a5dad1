-- What reading functions add up with: exact sums of any size, and rates that are rounded once.
\getenv source PG_ABS_SRCDIR
\set reading :source '/include/reading.sql'
\set ECHO none
\i :reading
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'

CREATE VIEW cases AS SELECT * FROM (VALUES
    ('none', NULL::bigint, 1000000::bigint),
    ('zero', 0, 1000000),
    ('zero', NULL, 1000000),
    -- 0.1 + 0.2
    ('three tenths', 1, 10000000),
    ('three tenths', 1, 5000000),
    -- What was not observed is counted and has no rate.
    ('partly observed', 1, 10000000),
    ('partly observed', 7, NULL),
    ('partly observed', 5, 0),
    ('not observed', 7, NULL),
    ('both signs', -3, 1000000),
    ('both signs', 3, 1000000),
    ('beyond bigint', 9223372036854775807, 1000000),
    ('beyond bigint', 9223372036854775807, 1000000),
    ('beyond bigint', 2, 2000000)) AS cases (name, value, observed);
SELECT name, jobstats_internal.sum(value, observed, 1000000), jobstats_internal.sum_of_rates(value, observed, 1000000), jobstats_internal.any(value, observed, 1000000)
FROM cases GROUP BY name ORDER BY name;
-- The same of numeric values.
SELECT name, jobstats_internal.sum(value::numeric, observed, 1000000), jobstats_internal.sum_of_rates(value::numeric, observed, 1000000),
    jobstats_internal.any(value::numeric, observed, 1000000)
FROM cases GROUP BY name ORDER BY name;
-- No rows at all; microseconds by microseconds.
SELECT jobstats_internal.sum(value, observed, 1), jobstats_internal.sum_of_rates(value, observed, 1), jobstats_internal.any(value, observed, 1) FROM cases WHERE false;
SELECT jobstats_internal.sum_of_rates(4200::bigint, 600000000, 1);
-- What no sum of bigints can be.
SELECT jobstats_internal.sum(1e38, 1, 1) AS large;
SELECT jobstats_internal.sum(1e39, 1, 1);
SELECT jobstats_internal.sum(1e38, n, 1) FROM generate_series(1::bigint, 2) n;

-- Many groups of many times.
SELECT count(*) FROM (
    SELECT jobstats_internal.sum(n, n % 7, 1) AS sum, sum(n) AS expected, jobstats_internal.sum_of_rates(n, n % 7, 1) AS rate,
        sum(n / nullif(n % 7, 0)::numeric)::double precision AS expected_rate
    FROM generate_series(1::bigint, 30000) n GROUP BY n % 1000
) s WHERE sum <> expected OR abs(rate - expected_rate) > 1e-12 * rate;

-- Totals may be larger than what a row of increments, or of a rollup, holds.
DO $$ BEGIN
    PERFORM observe('scratch-OST0000', 'oss1', 0, 10);
    PERFORM observe('scratch-OST0001', 'oss1', 0, 10);
    PERFORM act('scratch-OST0000', '101:1000:n01', 0, 10, '{"write_bytes": 9223372036854775807}');
    PERFORM act('scratch-OST0000', '102:1000:n02', 0, 10, '{"write_bytes": 9223372036854775807}');
    PERFORM act('scratch-OST0001', '102:1000:n02', 0, 10, '{"write_bytes": 9223372036854775807}');
END $$;
SELECT name, total FROM jobstats_totals(at(0), at(10), 'write_bytes', 'target');
SELECT name, total FROM jobstats_totals(at(0), at(10), 'write_bytes', 'job,uid');
SELECT rank, name, total, round((rate / 1e15)::numeric, 9) AS petabytes, share FROM jobstats_top(at(0), at(10), 'write_bytes', 'uid');
SELECT name, write_bytes, nodes FROM jobstats_summary(at(0), at(10));
SELECT target, round((rate / 1e15)::numeric, 9) AS petabytes, leader, leader_share
FROM jobstats_balance(at(0), at(10), filter => 'filesystem=scratch') ORDER BY target;
SELECT bucket, count FROM jobstats_densities(at(0), at(10), 'write_bytes', 'job');
