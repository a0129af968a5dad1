-- The dimension user: the current name of a user, or else the number, as a filter, in labels and as a word in "by". Sums are stored by number.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
SELECT jobstats_setup(retention => '100 years', compress_after => '100 years') IS NOT NULL AS ready;

-- Users 1000 and 1001 have one name; user 1003 has no name, and the entry "damaged" names no user.
DO $$ BEGIN
    PERFORM observe('scratch-MDT0000', 'mds1', 0, 10, 20);
    PERFORM observe('scratch-OST0000', 'oss1', 0, 10, 20);
    PERFORM act('scratch-MDT0000', '101:1000:n01', 0, 10, '{"open": 6000, "open_usecs": 30000000}');
    PERFORM act('scratch-MDT0000', '102:1001:n02', 0, 10, '{"open": 3000, "open_usecs": 15000000}');
    PERFORM act('scratch-MDT0000', '103:1002:n02', 10, 20, '{"open": 1500, "open_usecs": 7500000}');
    PERFORM act('scratch-MDT0000', '104:1003:n05', 10, 20, '{"open": 10, "open_usecs": 100}');
    PERFORM act('scratch-MDT0000', 'damaged', 10, 20, '{"open": 1, "open_usecs": 10}');
    PERFORM act('scratch-OST0000', '101:1000:n01', 10, 20, '{"write": 60, "write_bytes": 1200}');
END $$;
INSERT INTO jobstats.users VALUES (1000, 'ada'), (1001, 'ada'), (1002, 'bob'), (9999, 'unused');

CREATE VIEW answers AS
-- By name: ada 6000 + 3000, bob 1500, a user without a name 10, no user 1.
SELECT 1 AS question, to_jsonb(r) AS answer FROM jobstats_totals(at(0), at(20), 'open', 'user') r
UNION ALL
SELECT 2, to_jsonb(r) FROM jobstats_totals(at(0), at(20), 'open', 'uid,user') r
UNION ALL
-- 9000 in 600 s, then 1500, 10 and 1.
SELECT 3, to_jsonb(r) FROM jobstats_rates(at(0), at(20), 'open', 'user', '10 minutes') r
UNION ALL
SELECT 4, to_jsonb(r) FROM jobstats_top(at(0), at(20), 'open', 'user', 2) r
UNION ALL
SELECT 5, to_jsonb(r) FROM jobstats_summary(at(0), at(20), 'user') r
UNION ALL
-- The rates are ada 7.5, bob 1.25, 1003 1 / 120, and without a user 1 / 1200.
SELECT 6, to_jsonb(r) FROM jobstats_densities(at(0), at(20), 'open', 'user') r
UNION ALL
-- Filtered by name: no filter, some names, an unused name, NULL. A user without a name matches as a number, and a missing user matches no
-- pattern.
SELECT 7, to_jsonb(r) FROM jobstats_totals(at(0), at(20), 'open', 'uid', filter => 'user=*') r
UNION ALL
SELECT 8, to_jsonb(r) FROM jobstats_totals(at(0), at(20), 'open', '', filter => 'user=a*a') r
UNION ALL
SELECT 9, to_jsonb(r) FROM jobstats_totals(at(0), at(20), 'write_bytes', 'target', filter => 'user=a*,b* kind=OST') r
UNION ALL
SELECT 10, to_jsonb(r) FROM jobstats_totals(at(0), at(20), 'open', 'user', filter => 'user=unused,nobody') r
UNION ALL
SELECT 11, to_jsonb(r) FROM jobstats_totals(at(0), at(20), 'open', 'user', filter => '{"user": []}') r
UNION ALL
SELECT 12, to_jsonb(r) FROM jobstats_totals(at(0), at(20), 'open', 'user', filter => 'uid=1001,1003') r
UNION ALL
SELECT 13, to_jsonb(r) FROM jobstats_totals(at(0), at(20), 'open', 'job,user', filter => 'user=ada') r
UNION ALL
SELECT 14, to_jsonb(r) FROM jobstats_totals(at(0), at(20), 'open', 'user', exclude => 'user=a*') r
UNION ALL
SELECT 15, to_jsonb(r) FROM jobstats_totals(at(0), at(20), 'open', 'user', filter => 'user=ada', exclude => 'uid=1000') r
UNION ALL
SELECT 16, to_jsonb(r) FROM jobstats_totals(at(0), at(20), 'open', 'user', filter => 'user=1003') r
UNION ALL
SELECT 17, to_jsonb(r) FROM jobstats_totals(at(0), at(20), 'open', 'user', filter => 'user=,bob') r
UNION ALL
SELECT 18, to_jsonb(r) FROM jobstats_totals(at(0), at(20), 'open', 'user', filter => 'user=**') r;
SELECT question, string_agg(e.key || ' ' || e.value, ', ') AS answer
FROM answers a CROSS JOIN LATERAL jsonb_each_text(a.answer) e
WHERE e.key IN ('time', 'name', 'total', 'rate', 'opens', 'nodes', 'bucket', 'count')
GROUP BY question, a.answer ORDER BY question, a.answer ->> 'time', a.answer;

-- Answers that rollups give are the same, and are read from the sums by user where the question is about users alone.
SELECT user_name, open, open_usecs FROM (
    SELECT user_name, sum(open * 600) AS open, sum(open_usecs * 600) AS open_usecs FROM jobstats.rates GROUP BY 1
) r ORDER BY user_name;
CREATE TABLE before AS TABLE answers;
CREATE VIEW changed AS (TABLE before EXCEPT ALL TABLE answers) UNION ALL (TABLE answers EXCEPT ALL TABLE before);
CALL jobstats_maintain();
TABLE changed;
BEGIN;
UPDATE jobstats.rollup_10m_users SET open = 0;
SELECT DISTINCT question FROM changed ORDER BY 1;
ROLLBACK;

-- A user who is renamed has all that was done before under the new name, and no sum changes.
UPDATE jobstats.users SET user_name = 'countess' WHERE uid = 1000;
SELECT name, total FROM jobstats_totals(at(0), at(20), 'open', 'user');
SELECT name, total FROM jobstats_totals(at(0), at(20), 'open', 'uid', filter => 'user=countess,bob');
SELECT DISTINCT user_name FROM jobstats.rates_10m ORDER BY 1;

-- Who may not read the names sees them in no answer.
SET client_min_messages = warning;
CREATE ROLE regress_no_names;
GRANT USAGE ON SCHEMA world TO regress_no_names;
SELECT jobstats_grant_reader('regress_no_names') \gset
REVOKE SELECT ON jobstats.users FROM regress_no_names;
RESET client_min_messages;
SET ROLE regress_no_names;
SELECT count(*) FROM jobstats_totals(at(0), at(20), 'open', 'uid');
SELECT count(*) FROM jobstats_totals(at(0), at(20), 'open', 'user');
SELECT count(*) FROM jobstats_totals(at(0), at(20), 'open', '', filter => 'user=bob');
SELECT count(*) FROM jobstats_totals(at(0), at(20), 'open', '', exclude => 'user=bob');
RESET ROLE;
DROP OWNED BY regress_no_names;
DROP ROLE regress_no_names;

