-- Settings that feeds or maintenance could not compute with are refused when they are set, by whichever way.
\i texts.sql
\i said.sql
\set ECHO all
SET intervalstyle = postgres;
SET client_min_messages = warning;
CREATE EXTENSION jobstats;
SELECT (regexp_match(jobstats_setup(), '^Retention: .*$', 'n'))[1] AS kept;
-- A rollup is retained at least as long as the rows that it sums.
BEGIN;
SELECT (regexp_match(jobstats_setup(retention => '1 year'), 'rollups [^.]*'))[1] AS kept;
ROLLBACK;
CREATE TABLE tried (number integer, name text, value text);
INSERT INTO tried VALUES (1, 'retention', '7000 years'), (2, 'retention', '300000 years'), (3, 'raw_retention', '10000 years'), (4, 'rejects_retention', '7000 years'),
    (5, 'chunk_interval', '178000000 years'), (6, 'compress_after', '300000 years'), (7, 'refresh_lag', '178000000 years'), (8, 'retention', '0'),
    (9, 'raw_retention', '1 mon -30 days'), (10, 'retention', '-178000000 years');
\pset format unaligned
\pset tuples_only
SELECT t.name, t.value, said(format('SELECT jobstats_setup(%I => %L)', t.name, t.value)) FROM tried t ORDER BY t.number;
SELECT l.level, said(format('SELECT jobstats_setup(rollup_%s_retention => %L)', l.level, '7000 years')) FROM jobstats.rollups l ORDER BY l.width;
-- The same for UPDATE.
SELECT count(*) FROM tried t
WHERE said(format('SELECT jobstats_setup(%I => %L)', t.name, t.value)) <> said(format('UPDATE jobstats.settings SET %I = %L', t.name, t.value));
INSERT INTO tried VALUES (11, 'max_ahead', '300000 years'), (12, 'max_ahead', '-1 second'), (13, 'feed_wait', '2 hours'), (14, 'feed_wait', '0'),
    (15, 'max_text', '0'), (16, 'max_text', '1073741824'), (17, 'max_targets', '0'), (18, 'max_rate', '1099511627777'), (19, 'retention', NULL),
    (20, 'max_ahead', NULL);
SELECT t.name, t.value, said(format('UPDATE jobstats.settings SET %I = %L', t.name, t.value)) FROM tried t WHERE t.number > 10 ORDER BY t.number;
SELECT said($$UPDATE jobstats.rollups SET retention = '7000 years'$$);
SELECT said($$UPDATE jobstats.rollups SET retention = '0'$$);
SELECT said($$INSERT INTO jobstats.settings (one, version, retention) VALUES (true, 'x', '7000 years')$$);
\pset tuples_only off
\pset format aligned
-- The settings did not change.
SELECT raw_retention, retention, rejects_retention, refresh_lag, chunk_interval, compress_after, max_ahead, feed_wait FROM jobstats.settings;

-- forever() retains for ever. A hundred years had this meaning before, and keep it.
SELECT (regexp_match(jobstats_setup(raw_retention => jobstats_internal.forever(), retention => jobstats_internal.forever(), rejects_retention => jobstats_internal.forever(),
    rollup_10m_retention => jobstats_internal.forever(), rollup_1h_retention => '100 years', rollup_1d_retention => '200 years'), '^Retention: .*$', 'n'))[1] AS kept;
SELECT level, retention FROM jobstats.rollups ORDER BY width;
SELECT jobstats_setup(rollup_1h_retention => '99 years');
-- Feeds and maintenance work with the most that can be set.
SELECT jobstats_setup(raw_retention => '1000 years', retention => '1000 years', rejects_retention => '1000 years', compress_after => '1000 years',
    chunk_interval => '1 year', refresh_lag => '999 years') IS NOT NULL AS ready \gset
UPDATE jobstats.settings SET max_ahead = '1 day', feed_wait = '1 hour', max_text = 1073741823, max_targets = 2147483647, max_rate = 1099511627776;
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('oss1', now() - interval '2 minutes', ost('fs-OST0000', record('1:1000:n1', 1, 4096))),
    ('oss1', now() - interval '1 minute', ost('fs-OST0000', record('1:1000:n1', 2, 8192))),
    ('oss1', now() + interval '23 hours', ost('fs-OST0000', record('1:1000:n1', 3, 12288)));
CALL jobstats_maintain();
SELECT problem FROM jobstats.maintenance WHERE problem IS NOT NULL;
SELECT sum(total) FROM jobstats_totals(now() - interval '1 hour', now() + interval '1 day', 'write_bytes', '');
SELECT count(*) FROM jobstats_audit(now() - interval '1 hour', now() + interval '1 day');
-- And with the least.
SELECT jobstats_setup(raw_retention => '1 microsecond', retention => '1 day', rejects_retention => '1 microsecond', rollup_10m_retention => '1 day', rollup_1h_retention => '1 day',
    rollup_1d_retention => '1 day', chunk_interval => '1 hour', compress_after => '1 microsecond', refresh_lag => '0') IS NOT NULL AS ready \gset
INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', now(), ost('fs-OST0001', record('1:1000:n1', 1, 4096)));
CALL jobstats_maintain();
SELECT problem FROM jobstats.maintenance WHERE problem IS NOT NULL;
