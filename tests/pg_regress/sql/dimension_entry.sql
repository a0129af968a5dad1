-- The dimension entry: the identifier as it came, as a filter, a column and a word in "by".
\getenv source PG_ABS_SRCDIR
\set reading :source '/include/reading.sql'
\set ECHO none
\i :reading
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
SELECT jobstats_setup(retention => '100 years', compress_after => '100 years') IS NOT NULL AS ready;

DO $$ BEGIN
    PERFORM observe('scratch-MDT0000', 'mds1', 0, 5, 10);
    PERFORM act('scratch-MDT0000', '101:1000:n01', 0, 5, '{"open": 6000, "open_usecs": 30000000}');
    PERFORM act('scratch-MDT0000', '101:1000:n02', 5, 10, '{"open": 3000, "open_usecs": 15000000}');
    PERFORM act('scratch-MDT0000', '102:1000:n02', 5, 10, '{"open": 1500, "open_usecs": 7500000}');
    PERFORM act('scratch-MDT0000', ':1003:n05', 5, 10, '{"open": 1, "open_usecs": 100}');
END $$;

-- Entries of one job, and one without a job, are told apart.
SELECT workload, entry, rate FROM jobstats_rates(at(0), at(10), '{open}', '{workload,entry}');
SELECT entry, total, calls FROM jobstats_totals(at(0), at(10), '{open}', '{entry}');
SELECT rank, entry, total FROM jobstats_top(at(0), at(10), by => '{entry}', n => 2);
SELECT entry, nodes, opens FROM jobstats_summary(at(0), at(10), '{entry}');
SELECT bucket, count FROM jobstats_densities(at(0), at(10), 'open', '{entry}');

-- It is NULL where it is not asked for, and filters by patterns.
SELECT entry, uid, total FROM jobstats_totals(at(0), at(10), '{open}', '{uid}', entry => '{*:n02}');
SELECT uid, operation, rate FROM jobstats_rates(at(0), at(10), '{open}', '{uid}', entry => '{:1003:n05,101:*}', weights => '{"open": 2}');
SELECT uid, total FROM jobstats_top(at(0), at(10), 'open', '{uid}', entry => '{102:1000:n02}');
SELECT uid, opens FROM jobstats_summary(at(0), at(10), '{uid}', entry => '{101:1000:n0*}');
SELECT bucket, count FROM jobstats_densities(at(0), at(10), 'open', '{uid}', entry => '{102*}');

-- Rollups by user do not know entries: the answers stay what they are after they have been filled.
CALL jobstats_maintain();
SELECT uid, total FROM jobstats_totals(at(0), at(10), '{open}', '{uid}', entry => '{*:n02}');
SELECT uid, entry, total FROM jobstats_totals(at(0), at(10), '{open}', '{uid,entry}');
