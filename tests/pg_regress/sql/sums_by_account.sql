-- Sums by account, by user, and by both include the user of an entry whose identifier lacks one. They are right whenever the accounting
-- comes.
\i store.sql
\i accounting.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
DO $$ BEGIN PERFORM jobstats_setup(retention => '100 years', raw_retention => '100 years', compress_after => '100 years'); END $$;
UPDATE texts.clock SET zero = '2025-11-03 08:00+00';
UPDATE jobstats.settings SET jobs_retention = '100 years';

-- Two targets in two days: 11 and 12 in the first hour, 12 and 13, a bare number, over midnight. Each writes 4 kB a minute.
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', at(o.minute), ost('scratch-OST0000', (SELECT string_agg(record(id, o.minute::integer, o.minute::integer * 4096), '' ORDER BY id)
        FROM unnest(ARRAY['11:1000:n01', '12:1001:n02', '12:0:n02']) AS id WHERE o.minute < 900))
    || ost('scratch-OST0001', (SELECT string_agg(record(id, o.minute::integer, o.minute::integer * 4096), '' ORDER BY id)
        FROM unnest(ARRAY['12:1001:n02', '13']) AS id))
FROM unnest(ARRAY[0, 10, 20, 950, 960, 970, 980]) AS o (minute);

-- Answers of sums by user, which are read by hour and day; and the same question of entries.
CREATE VIEW answers AS
SELECT 'day' AS question, to_jsonb(r) AS answer
FROM jobstats_rates('2025-11-03', '2025-11-05', 'write_bytes', 'target,account', '1 day') r
UNION ALL
SELECT 'hours', to_jsonb(r) FROM jobstats_rates('2025-11-03 08:00', '2025-11-04 01:00', 'write_bytes', 'account,partition', '1 hour') r
UNION ALL
SELECT 'users', to_jsonb(r) FROM jobstats_rates('2025-11-03 08:00', '2025-11-04 01:00', 'write_bytes', 'uid,user', '1 hour') r
UNION ALL
SELECT 'both', to_jsonb(r) FROM jobstats_rates('2025-11-03 08:00', '2025-11-05', 'write_bytes', 'target,account,uid,user', '1 hour') r
UNION ALL
SELECT 'user', to_jsonb(r) FROM jobstats_totals('2025-11-03', '2025-11-05', 'write_bytes', 'uid,user,gid,group') r
UNION ALL
SELECT 'account', to_jsonb(r) FROM jobstats_totals('2025-11-03', '2025-11-05', 'write_bytes', '', filter => 'account=phys*') r
UNION ALL
SELECT 'no account', to_jsonb(r) FROM jobstats_totals('2025-11-03', '2025-11-05', 'write_bytes', 'account', exclude => '{"account": ["phys*"]}') r
UNION ALL
SELECT 'name', to_jsonb(r) FROM jobstats_totals('2025-11-03', '2025-11-05', 'write_bytes', 'uid', filter => 'user=user1002') r;
CREATE VIEW of_entries AS
SELECT account, uid, sum(total) AS total FROM jobstats_totals('2025-11-03', '2025-11-05', 'write_bytes', 'account,uid,entry') r, dims(r.labels) GROUP BY 1, 2;
CREATE VIEW of_owners AS
SELECT account, NULL::bigint AS uid, total FROM jobstats_totals('2025-11-03', '2025-11-05', 'write_bytes', 'account') r, dims(r.labels)
UNION ALL
SELECT NULL, uid, total FROM jobstats_totals('2025-11-03', '2025-11-05', 'write_bytes', 'uid') r, dims(r.labels)
UNION ALL
SELECT account, uid, total FROM jobstats_totals('2025-11-03', '2025-11-05', 'write_bytes', 'account,uid') r, dims(r.labels);
CREATE VIEW summed AS
SELECT account, NULL::bigint AS uid, sum(total) AS total FROM of_entries GROUP BY account
UNION ALL
SELECT NULL, uid, sum(total) FROM of_entries GROUP BY uid
UNION ALL
SELECT account, uid, total FROM of_entries;
CREATE VIEW different AS (TABLE summed EXCEPT ALL TABLE of_owners) UNION ALL (TABLE of_owners EXCEPT ALL TABLE summed);

-- Without accounting.
CALL jobstats_maintain();
TABLE of_entries ORDER BY 1, 2;
TABLE different;
\set ECHO none
\i ../../store/rollups.sql
\set ECHO all

-- The accounting comes late. Maintenance matches, and computes the days anew on which something has changed.
SELECT account(990, run('11', '11', 'alpha', 0, 20, 1000, 'physics') || run('12', '12', 'alpha', -60, NULL, 1001, 'bio')
    || run('13', '13', 'alpha', 940, NULL, 1002, 'physics'));
TABLE different;
CREATE TABLE before AS TABLE answers;
CALL jobstats_maintain();
TABLE jobstats.dirty_users;
TABLE of_entries ORDER BY 1, 2;
TABLE different;
\set ECHO none
\i ../../store/rollups.sql
\set ECHO all
SELECT DISTINCT a.question FROM (TABLE before EXCEPT TABLE answers) a ORDER BY 1;
SELECT bucket::date, account, "partition", write_bytes FROM jobstats.rollup_1d_accounts ORDER BY 1, 2, 3, 4;
SELECT bucket::date, uid, write_bytes FROM jobstats.rollup_1d_users ORDER BY 1, 2, 3;

-- A job gets another account; another job's end has no effect.
SELECT account(1000, run('11', '11', 'alpha', 0, 20, 1000, 'physics2') || run('13', '13', 'alpha', 940, 945, 1002, 'physics'));
CALL jobstats_maintain();
TABLE different;
\set ECHO none
\i ../../store/rollups.sql
\set ECHO all
TABLE of_entries ORDER BY 1, 2;

-- Days that wait to be computed are read by entry: the sums are of no use then.
TRUNCATE before;
INSERT INTO before TABLE answers;
BEGIN;
UPDATE jobstats.rollup_1d_users SET write_bytes = 0;
UPDATE jobstats.rollup_1d_accounts SET write_bytes = 0;
UPDATE jobstats.rollup_1d_members SET write_bytes = 0;
UPDATE jobstats.rollup_1h_users SET write_bytes = 0;
UPDATE jobstats.rollup_1h_accounts SET write_bytes = 0;
UPDATE jobstats.rollup_1h_members SET write_bytes = 0;
UPDATE jobstats.rollup_10m_users SET write_bytes = 0;
UPDATE jobstats.rollup_10m_accounts SET write_bytes = 0;
SELECT DISTINCT a.question FROM (TABLE before EXCEPT TABLE answers) a ORDER BY 1;
INSERT INTO jobstats.dirty_users SELECT t.target_id, d.day FROM jobstats.targets t, (VALUES (timestamptz '2025-11-03 00:00+00'), ('2025-11-04 00:00+00')) AS d (day);
SELECT DISTINCT a.question FROM (TABLE before EXCEPT TABLE answers) a ORDER BY 1;
ROLLBACK;
-- On the second day only.
BEGIN;
DELETE FROM jobstats.rollup_1d_users WHERE bucket > '2025-11-04 00:00+00';
DELETE FROM jobstats.rollup_1d_accounts WHERE bucket > '2025-11-04 00:00+00';
DELETE FROM jobstats.rollup_1d_members WHERE bucket > '2025-11-04 00:00+00';
DELETE FROM jobstats.rollup_1h_users WHERE bucket > '2025-11-04 00:00+00';
DELETE FROM jobstats.rollup_1h_accounts WHERE bucket > '2025-11-04 00:00+00';
DELETE FROM jobstats.rollup_1h_members WHERE bucket > '2025-11-04 00:00+00';
DELETE FROM jobstats.rollup_10m_users WHERE bucket > '2025-11-04 00:00+00';
DELETE FROM jobstats.rollup_10m_accounts WHERE bucket > '2025-11-04 00:00+00';
INSERT INTO jobstats.dirty_users SELECT t.target_id, '2025-11-04 00:00+00' FROM jobstats.targets t;
SELECT DISTINCT a.question FROM (TABLE before EXCEPT TABLE answers) a ORDER BY 1;
ROLLBACK;

-- Users whom only their jobs name: accounting without numbers.
UPDATE jobstats.jobs SET uid = NULL;
INSERT INTO jobstats.to_match SELECT job FROM jobstats.jobs;
DELETE FROM jobstats.users;
CALL jobstats_maintain();
SELECT name, total FROM jobstats_totals('2025-11-03', '2025-11-05', 'write_bytes', 'user,uid,account');
SELECT total FROM jobstats_totals('2025-11-03', '2025-11-05', 'write_bytes', '', filter => 'user=user1002');
\set ECHO none
\i ../../store/rollups.sql
\set ECHO all

-- The views know what the functions know.
SELECT r.account, r.uid, r.user_name, sum(r.write_bytes * 600) AS total FROM jobstats.rates_10m r GROUP BY 1, 2, 3 ORDER BY 1, 2;
SELECT r.account, r.uid, r.state, sum(r.write_bytes * extract(epoch FROM r.until - r.since)) AS total FROM jobstats.rates r GROUP BY 1, 2, 3 ORDER BY 1, 2;
-- Columns that a query does not need are not read.
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY EXECUTE 'EXPLAIN (COSTS off) ' || query; END $$;
SELECT query, (SELECT count(*) > 0 FROM plan('SELECT ' || query || ' FROM jobstats.rates_1h') AS line WHERE line ~ 'job_ids|users') AS reads_names
FROM unnest(ARRAY['workload, write', 'entry, job', 'account']) AS query;
