-- A store with rollups gets a new operation: it is in every level, and other columns stay the same.
\i store.sql
\set ECHO all
SELECT jobstats_setup(raw_retention => '100 years', retention => '100 years') IS NOT NULL AS ready;
CREATE ROLE regress_newoperation_reader;
SELECT jobstats_grant_reader('regress_newoperation_reader');

-- An entry, how often it opened files and how many pages of directories it read since it was made.
CREATE FUNCTION work(id text, start timestamptz, opens bigint, pages bigint DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
SELECT life(id, start, opens, opens * 10) || coalesce(format(
    E'  readpage:        { samples: %s, unit: usecs, min:        1, max:      100, sum: %s, sumsq:                  0 }\n',
    lpad(pages::text, 11), lpad((pages * 5)::text, 16)), '')
$$;
CREATE FUNCTION feed("time" timestamptz, VARIADIC works text[]) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'mds1', feed."time", array_to_string(ARRAY['mdt.fs-MDT0000.job_stats=', 'job_stats:'], E'\n') || E'\n' || array_to_string(works, '')
$$;

-- The store as a version made it that did not know readpage: for a day and a half, a file is opened every minute.
CREATE FUNCTION forget(operation text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    levels text[] := ARRAY['10m', '1h', '1d'];
    level text;
    forgotten text := format('DROP COLUMN %1$I CASCADE, DROP COLUMN %1$s_usecs CASCADE', operation);
BEGIN
    FOREACH level IN ARRAY levels LOOP
        EXECUTE format('ALTER TABLE jobstats.rollup_%s %s', level, forgotten);
        EXECUTE format('ALTER TABLE jobstats.rollup_%s_users %s', level, forgotten);
        EXECUTE format('ALTER TABLE jobstats.rollup_%s_accounts %s', level, forgotten);
        EXECUTE format('ALTER TABLE IF EXISTS jobstats.rollup_%s_members %s', level, forgotten);
        EXECUTE format('ALTER TABLE jobstats.rollup_%s_targets %s', level, forgotten);
    END LOOP;
    EXECUTE 'ALTER TABLE jobstats.increments ' || forgotten;
    EXECUTE 'ALTER TABLE jobstats.target_increments ' || forgotten;
END
$$;
SELECT count(feed(t, work('1:1001:n1', '2025-11-03 00:00', extract(epoch FROM t - '2025-11-03')::bigint / 60)))
FROM generate_series(timestamptz '2025-11-03 00:10', '2025-11-04 12:00', interval '10 minutes') t
WHERE t <> '2025-11-03 09:20';
CALL jobstats_maintain();
-- Where TimescaleDB can, all of it is kept in columns by now.
DO $$
BEGIN
    WHILE jobstats_internal.compress_before(now()) IS NOT NULL LOOP
    END LOOP;
END
$$;
SET client_min_messages = warning;
SELECT forget('readpage');
RESET client_min_messages;
CALL jobstats_maintain();
SELECT attrelid::regclass, attname FROM pg_attribute
WHERE attname LIKE 'readpage%' AND NOT attisdropped AND attrelid::regclass::text LIKE 'jobstats.%';

-- The new version: after jobstats_setup() the columns exist and are empty, and all sums remain.
SELECT jobstats_setup() IS NOT NULL AS ready;
CREATE VIEW levels AS
SELECT 'increments' AS level, sum(open) AS open, count(readpage) AS rows, sum(readpage) AS readpage, sum(readpage_usecs) AS usecs FROM jobstats.increments
UNION ALL SELECT '10m', sum(open), count(readpage), sum(readpage), sum(readpage_usecs) FROM jobstats.increments_10m
UNION ALL SELECT '1h', sum(open), count(readpage), sum(readpage), sum(readpage_usecs) FROM jobstats.increments_1h
UNION ALL SELECT '1d', sum(open), count(readpage), sum(readpage), sum(readpage_usecs) FROM jobstats.increments_1d
UNION ALL SELECT 'rollup_10m', sum(open), count(readpage), sum(readpage), sum(readpage_usecs) FROM jobstats.rollup_10m
UNION ALL SELECT 'rollup_1h', sum(open), count(readpage), sum(readpage), sum(readpage_usecs) FROM jobstats.rollup_1h
UNION ALL SELECT 'rollup_1d', sum(open), count(readpage), sum(readpage), sum(readpage_usecs) FROM jobstats.rollup_1d
UNION ALL SELECT 'users', sum(open), count(readpage), sum(readpage), sum(readpage_usecs) FROM jobstats.rollup_1d_users;
TABLE levels;

-- It is counted where rollups were made long ago, by a late text, and after them. They show it at once.
SELECT feed('2025-11-03 09:20', work('1:1001:n1', '2025-11-03 00:00', 560), work('2:1002:n2', '2025-11-03 09:15', 1, 7));
SELECT feed('2025-11-04 12:10', work('1:1001:n1', '2025-11-03 00:00', 2170), work('3:1001:n1', '2025-11-04 12:05', 2, 100));
SELECT feed('2025-11-04 12:20', work('1:1001:n1', '2025-11-03 00:00', 2180), work('3:1001:n1', '2025-11-04 12:05', 3, 110));
TABLE levels;
-- They hold it after the next refresh.
CALL jobstats_maintain();
TABLE levels;
\set ECHO none
\i ../../store/rollups.sql
\set ECHO all

-- Whatever is read, the answer is the same.
SELECT day, name, operation, total, calls, per_call
FROM unnest('{2025-11-03,2025-11-04}'::timestamptz[]) day, jobstats_totals(day, day + interval '1 day', 'open,readpage', 'job')
ORDER BY day, name, operation;
SELECT "time", rate * seconds AS pages FROM jobstats_rates('2025-11-03 08:00', '2025-11-03 11:00', 'readpage', 'kind', '1 hour') ORDER BY "time";
-- Of the newest hour, 20 minutes have passed: 110 pages.
SELECT until, job, readpage * 3600 AS pages_per_hour FROM jobstats.rates_1h WHERE readpage > 0 ORDER BY until;
-- Recreated views have the granted rights.
SET ROLE regress_newoperation_reader;
SELECT sum(readpage) FROM jobstats.increments_1h;
RESET ROLE;
DROP OWNED BY regress_newoperation_reader;
DROP ROLE regress_newoperation_reader;
