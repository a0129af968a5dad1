-- The dimension entry: the identifier as it came, as a filter, a column and a word in "by".
\i reading.sql
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

-- Entries of one job, and one without a job, are separate.
SELECT workload, entry, rate FROM (SELECT * FROM jobstats_rates(at(0), at(10), 'open', 'workload,entry') r, dims(r.labels)) AS jobstats_rates;
SELECT entry, total, calls FROM (SELECT * FROM jobstats_totals(at(0), at(10), 'open', 'entry') r, dims(r.labels)) AS jobstats_totals;
SELECT rank, entry, total FROM (SELECT * FROM jobstats_top(at(0), at(10), by => 'entry', n => 2) r, dims(r.labels)) AS jobstats_top;
SELECT entry, nodes, opens FROM (SELECT * FROM jobstats_summary(at(0), at(10), 'entry') r, dims(r.labels)) AS jobstats_summary;
SELECT bucket, count FROM jobstats_densities(at(0), at(10), 'open', 'entry');

-- It is NULL unless requested, and filters by patterns.
SELECT entry, uid, total FROM (SELECT * FROM jobstats_totals(at(0), at(10), 'open', 'uid', filter => 'entry=*:n02') r, dims(r.labels)) AS jobstats_totals;
SELECT uid, operation, rate FROM (SELECT * FROM jobstats_rates(at(0), at(10), 'open', 'uid', weights => '{"open": 2}', filter => 'entry=:1003:n05,101:*') r, dims(r.labels)) AS jobstats_rates;
SELECT uid, total FROM (SELECT * FROM jobstats_top(at(0), at(10), 'open', 'uid', filter => 'entry=102:1000:n02') r, dims(r.labels)) AS jobstats_top;
SELECT uid, opens FROM (SELECT * FROM jobstats_summary(at(0), at(10), 'uid', filter => 'entry=101:1000:n0*') r, dims(r.labels)) AS jobstats_summary;
SELECT bucket, count FROM jobstats_densities(at(0), at(10), 'open', 'uid', filter => 'entry=102*');

-- Rollups by user do not know entries: the answers stay the same after the rollups are filled.
CALL jobstats_maintain();
SELECT uid, total FROM (SELECT * FROM jobstats_totals(at(0), at(10), 'open', 'uid', filter => 'entry=*:n02') r, dims(r.labels)) AS jobstats_totals;
SELECT uid, entry, total FROM (SELECT * FROM jobstats_totals(at(0), at(10), 'open', 'uid,entry') r, dims(r.labels)) AS jobstats_totals;
