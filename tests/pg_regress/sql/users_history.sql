-- The former names of users: from texts of several days, in any order, and from the accounting of jobs where getent has none of them.
\i store.sql
\set ECHO all
-- Day 0 is a Monday.
CREATE FUNCTION day(n numeric) RETURNS timestamptz LANGUAGE sql STABLE AS $$SELECT timestamptz '2025-03-03 00:00+00' + n * interval '1 day'$$;
-- Each text comes from a separate server: a server has one text of a time.
CREATE SEQUENCE server;
CREATE FUNCTION fed(n numeric, body text, OUT action text, OUT entries integer, OUT active integer, OUT added integer) LANGUAGE sql AS $$
SELECT action, entries, active, added FROM jobstats_ingest('', 'login' || nextval('server'), day(n), body, source => 'passwd')
$$;
CREATE FUNCTION passwd(name text, uid bigint, gid bigint = 100) RETURNS text LANGUAGE sql AS $$SELECT format(E'%s:x:%s:%s::/h:/s\n', name, uid, gid)$$;
CREATE FUNCTION of_day("time" timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
SELECT CASE WHEN isfinite("time") THEN trim_scale(extract(epoch FROM "time" - day(0)) / 86400)::text ELSE "time"::text END
$$;
CREATE VIEW names AS
SELECT uid, user_name, gid, of_day(since) AS since, of_day(until)::numeric AS until, round(of_day(seen)::numeric, 1) AS seen, NULL AS source
FROM jobstats.earlier_users
UNION ALL
SELECT uid, user_name, gid, of_day(since), NULL, round(of_day(seen)::numeric, 1), source FROM jobstats.users
ORDER BY 1, 5 NULLS LAST;

-- A user is renamed, gets another group, and the number goes to somebody else. The day of a text counts from 0:00 UTC on.
SELECT * FROM fed(0.5, passwd('ada', 1000));
SELECT * FROM fed(1.5, passwd('ada', 1000));
SELECT * FROM fed(4.9, passwd('countess', 1000));
SELECT * FROM fed(6.0, passwd('countess', 1000, 200));
SELECT * FROM fed(9.2, passwd('bob', 1000));
TABLE names;
-- All is known: the rows of users are not even written, unless it is the first text of a day.
CREATE TABLE versions AS SELECT uid, xmin AS made, ctid AS place FROM jobstats.users;
SELECT * FROM fed(9.9, passwd('bob', 1000));
SELECT count(*) AS rewritten FROM (SELECT uid, xmin, ctid FROM jobstats.users EXCEPT SELECT * FROM versions) v;
SELECT * FROM fed(10.1, passwd('bob', 1000));
SELECT uid, user_name, since, seen FROM names WHERE until IS NULL;
-- A text that comes late, or again, replaces no newer name.
SELECT * FROM fed(1.5, passwd('ada', 1000));
SELECT * FROM fed(9.1, passwd('countess', 1000, 200));
SELECT * FROM fed(-3, passwd('ada', 1000));
TABLE names;
SELECT * FROM fed(8, passwd('eve', 1000));
TABLE names;

-- The same texts in any order.
CREATE TABLE texts_of AS
SELECT * FROM (VALUES (0.5, 'ada'), (1.5, 'ada'), (4.9, 'countess'), (6, 'countess'), (9.2, 'bob'), (10.1, 'bob'), (12, 'carl')) AS t (n, name);
DO $$
DECLARE
    any_order bigint;
BEGIN
    FOR any_order IN 2000..2039 LOOP
        PERFORM fed(t.n, passwd(t.name, any_order)) FROM (SELECT * FROM texts_of ORDER BY md5(any_order::text || n)) t;
    END LOOP;
END
$$;
SELECT user_name, gid, since, until, count(*) FROM names WHERE uid BETWEEN 2000 AND 2039 GROUP BY 1, 2, 3, 4 ORDER BY since::numeric;

-- Names that are written by hand have no time: they end with the first text that differs.
INSERT INTO jobstats.users (uid, user_name) VALUES (3000, 'dan'), (3001, 'dora');
SELECT * FROM fed(2, passwd('dan', 3000) || passwd('fay', 3001));
SELECT * FROM names WHERE uid IN (3000, 3001);
-- A late text with the current name begins it earlier, and ends the one before.
SELECT fed(5, passwd('gus', 3002)), fed(1, passwd('hugo', 3002)), fed(3, passwd('gus', 3002));
SELECT * FROM names WHERE uid = 3002;

-- Two hosts that disagree every day leave no history.
SELECT a.active, b.active FROM generate_series(1, 3) n, fed(n + 0.1, passwd('one', 4000)) a, fed(n + 0.2, passwd('other', 4000)) b;
SELECT * FROM names WHERE uid = 4000;
-- At most a hundred names of a number.
DO $$ BEGIN PERFORM fed(n, passwd('n' || n, 5000)) FROM generate_series(1, 150) n; END $$;
SELECT count(*), min(until), max(until) FROM names WHERE uid = 5000;

-- Accounting gives names of unnamed users and groups; the first name counts. A number is no name.
CREATE FUNCTION jobs(cluster text, VARIADIC jobs text[]) RETURNS TABLE (action text, entries integer, active integer) LANGUAGE sql AS $$
SELECT action, entries, active FROM jobstats_ingest(cluster, 'slurm' || nextval('server'), day(20), body => translate(array_to_string('JobIDRaw|JobID|Submit|Start|End|UID|User|GID|Group|State'::text || jobs, E'\n') || E'\n', '|', chr(31)), source => 'slurm')
$$;
SELECT * FROM jobs('c1', '1|1|2025-03-03T10:00:00|2025-03-03T11:00:00|2025-03-03T12:00:00|6000|gil|600|six|COMPLETED',
    '2|2|2025-03-03T10:00:00|2025-03-03T11:00:00|2025-03-03T12:00:00|6000|gilbert|601|seven|COMPLETED',
    '3|3|2025-03-03T10:00:00|2025-03-03T11:00:00|2025-03-03T12:00:00|6001|6001|602|602|COMPLETED',
    '4|4|2025-03-03T10:00:00|2025-03-03T11:00:00|2025-03-03T12:00:00|1000|evil|600|evil|COMPLETED',
    '5|5|2025-03-03T10:00:00|||6002|hal||eight|PENDING');
SELECT * FROM names WHERE uid IN (1000, 6000, 6001, 6002) AND until IS NULL;
SELECT gid, group_name, since, seen, source FROM jobstats.groups ORDER BY gid;
-- A different accounting name has no effect; getent replaces it, and leaves no history.
SELECT * FROM jobs('c2', '1|1|2025-03-03T10:00:00|2025-03-03T11:00:00|2025-03-03T12:00:00|6000|evil|600|evil|COMPLETED');
SELECT * FROM fed(3, passwd('gilda', 6000) || passwd('hal', 6002));
SELECT * FROM jobs('c2', '2|2|2025-03-03T10:00:00|2025-03-03T11:00:00|2025-03-03T12:00:00|6000|evil|600|evil|COMPLETED',
    '3|3|2025-03-03T10:00:00|2025-03-03T11:00:00|2025-03-03T12:00:00|6002|evil|603|evil|COMPLETED');
SELECT * FROM names WHERE uid IN (6000, 6002);
SELECT action FROM jobstats_ingest('', 'login' || nextval('server'), day(3), E'sextet:x:600:\n', source => 'group');
SELECT gid, group_name, of_day(since) AS since, source FROM jobstats.groups ORDER BY gid;
SELECT count(*) FROM jobstats.earlier_groups;
SELECT reason, text FROM jobstats.rejects;
