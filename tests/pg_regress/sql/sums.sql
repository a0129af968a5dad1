-- Sums of any size are exact.
\getenv source PG_ABS_SRCDIR
\set reading :source '/include/reading.sql'
\set ECHO none
\i :reading
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'

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
