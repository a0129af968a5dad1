-- An empty answer about a window without observed targets has the reason, and the span of observations.
\i reading.sql
\set ECHO all
\pset format unaligned
\pset tuples_only

DO $$ BEGIN
    PERFORM observe('scratch-OST0000', 'oss1', 0, 5, 10);
    PERFORM observe('home-OST0000', 'oss2', 20, 25);
    PERFORM act('scratch-OST0000', '4711:1000:n01', 5, 10, '{"write": 1, "write_bytes": 4096}');
END $$;

-- Before the first observation and after the last one.
SELECT * FROM jobstats_rates(at(-60), at(-50), 'write');
SELECT * FROM jobstats_totals(at(-60), at(-50));
SELECT * FROM jobstats_top(at(1500), at(1560), 'write');
SELECT * FROM jobstats_summary(at(1500), at(1560));
SELECT * FROM jobstats_densities(at(1500), at(1560), 'write');
SELECT * FROM jobstats_io_sizes(at(-60), at(0));
SELECT * FROM jobstats_balance(at(-60), at(-50));
SELECT * FROM jobstats_now(n => 10, at => at(-1));
SELECT * FROM jobstats_now(n => 10, at => at(5000));
-- A window that reaches now, long after the last observation.
SELECT * FROM jobstats_top();

-- Only the targets in scope count.
SELECT * FROM jobstats_top(at(11), at(18), 'write', filter => 'filesystem=scratch');
SELECT * FROM jobstats_top(at(11), at(18), 'write');

-- One text makes no rate.
DO $$ BEGIN PERFORM observe('one-OST0000', 'oss1', 3); END $$;
SELECT * FROM jobstats_top(at(0), at(5), 'write', filter => 'filesystem=one');

-- No notice where the targets were observed and idle.
SELECT * FROM jobstats_top(at(0), at(5), 'write');
SELECT * FROM jobstats_top(at(5), at(10), 'read');
