-- The arguments of jobstats_setup(), and refused settings, under which data could be lost.
\set ECHO all
SET intervalstyle = postgres;
CREATE EXTENSION jobstats;
SELECT jobstats_setup() IS NOT NULL AS ready;
CREATE VIEW settings AS
SELECT raw_retention, retention, rejects_retention, refresh_lag, chunk_interval, compress_after,
    (SELECT string_agg(coalesce(retention::text, 'for ever'), ', ' ORDER BY width) FROM jobstats.rollups) AS rollups
FROM jobstats.settings;
TABLE settings;

-- Settings without an argument stay.
SELECT jobstats_setup(retention => '100 days', rollup_1h_retention => '3 years', refresh_lag => '1 hour') IS NOT NULL AS ready;
SELECT jobstats_setup(rollup_1d_retention => '10 years', chunk_interval => '12 hours', compress_after => '14 days') IS NOT NULL AS ready;
TABLE settings;

-- Text is kept no longer than its observation.
SELECT jobstats_setup(raw_retention => '101 days');
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_setup(retention => '1 day');
-- Increments are kept until the rollup of days can have summed them.
SELECT jobstats_setup(refresh_lag => '99 days 1 second');
SELECT jobstats_setup(refresh_lag => '99 days') IS NOT NULL AS ready;
SELECT jobstats_setup(raw_retention => '1 day', retention => '1 day', refresh_lag => '0') IS NOT NULL AS ready;
SELECT jobstats_setup(refresh_lag => '1 second');
SELECT jobstats_setup(raw_retention => '2 days', retention => '100 days', refresh_lag => '20 minutes') IS NOT NULL AS ready;
-- A rollup is retained as long as its source. A default follows by itself.
SELECT jobstats_setup(rollup_10m_retention => '99 days');
SELECT jobstats_setup(retention => '99 days', rollup_10m_retention => '99 days') IS NOT NULL AS ready;
SELECT jobstats_setup(retention => '4 years') IS NOT NULL AS ready;
SELECT jobstats_setup(rollup_1d_retention => '3 years');
SELECT jobstats_setup(retention => '90 days', rollup_1d_retention => '2 years');
SELECT jobstats_setup(retention => '90 days', rollup_1h_retention => '2 years', rollup_1d_retention => '2 years') IS NOT NULL AS ready;
UPDATE jobstats.rollups SET retention = NULL WHERE level = '10m';
SELECT jobstats_setup(retention => '90 days', rollup_1h_retention => '99 years');
UPDATE jobstats.rollups SET retention = '90 days' WHERE level = '10m';
-- Chunks are dropped as a whole, and not changed by late text once they are kept in columns.
SELECT jobstats_setup(retention => '90 days', chunk_interval => '91 days');
SELECT jobstats_setup(compress_after => '1 day');
SELECT jobstats_setup(raw_retention => '15 days') IS NOT NULL AS ready;
-- Invalid spans.
SELECT jobstats_setup(retention => '0');
SELECT jobstats_setup(rejects_retention => '-1 day');
SELECT jobstats_setup(rollup_10m_retention => '0');
SELECT jobstats_setup(chunk_interval => '59 minutes');
SELECT jobstats_setup(compress_after => '-1 day');
SELECT jobstats_setup(refresh_lag => '-1 day');

-- Refused calls have not changed any setting.
TABLE settings;
