-- Users can be forgotten, at once or after a time, and sums stay the same.
\i store.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
SET client_min_messages = warning;
\setenv PGDATABASE :DBNAME
-- Everything that is stored of Ada, by her names, her number, her programs and her jobs; and of Bob.
\setenv ADA 'adalovelace|countess|2047110815|enginerun|noteg'
\setenv BOB 'bobthebuilder|2047110816|canwefixit'
SELECT jobstats_setup(raw_retention => '20 days') IS NOT NULL AS ready;
UPDATE texts.clock SET zero = date_trunc('day', now()) - interval '12 days' + interval '8 hours';
-- Keys and pseudonyms have separate secrets.
SELECT pseudonyms <> keys AS apart FROM jobstats.secrets;

-- Ada's job 901 on a node, what the system did for it, a program of hers without a job, and two bare numbers: 903 is hers, and 905 was hers
-- before it was Bob's. Of her job 906 the accounting comes late. She cancelled Bob's job 902.
CREATE FUNCTION read(minute numeric, done numeric) RETURNS bigint LANGUAGE sql AS $$
WITH fed AS (
    INSERT INTO jobstats.feed (server, "time", body)
    SELECT 'oss1', at(minute), ost('fs-OST0000', (SELECT string_agg(record(id, done + n, (done + n) * 4096), '' ORDER BY n)
        FROM unnest('{901:2047110815:n01,901:0:n01,enginerun.2047110815,903,905,906:2047110815:n01,902:2047110816:n02,canwefixit.2047110816}'::text[]) WITH ORDINALITY AS e (id, n)))
    RETURNING 1)
SELECT count(*) FROM fed
$$;
CREATE FUNCTION account(minute numeric, runs text) RETURNS text LANGUAGE sql AS $$
SELECT i.action FROM jobstats_ingest('', 'slurm', at(minute), source => 'slurm',
    body => translate(E'JobIDRaw|JobID|Cluster|Submit|Start|End|UID|User|Account|Partition|JobName|State|NodeList\n' || runs, '|', chr(31))) i
$$;
CREATE FUNCTION run(job text, started numeric, ended numeric, uid bigint, user_name text, account text) RETURNS text LANGUAGE sql AS $$
SELECT concat_ws('|', job, job, 'c', extract(epoch FROM at(started - 1))::bigint, extract(epoch FROM at(started))::bigint,
    extract(epoch FROM at(ended))::bigint, uid, user_name, account, 'main', CASE user_name WHEN 'bobthebuilder' THEN 'bridge' ELSE 'noteg' END,
    CASE job WHEN '902' THEN 'CANCELLED by 2047110815' ELSE 'COMPLETED' END, 'n[01-02]') || E'\n'
$$;
CREATE FUNCTION names(minute numeric, name text) RETURNS text LANGUAGE sql AS $$
SELECT i.action FROM jobstats_ingest('', 'login1', at(minute), source => 'passwd',
    body => format(E'%s:x:2047110815:2047110815:Countess:/home:/bin/sh\nbobthebuilder:x:2047110816:100::/home:/bin/sh\n', name)) i
$$;
SELECT names(0, 'countess') AS first, names(1500, 'adalovelace') AS then,
    (SELECT i.action FROM jobstats_ingest('', 'login1', at(1500), source => 'group', body => E'adalovelace:x:2047110815:\nusers:x:100:bob\n') i) AS groups;
SELECT account(60, run('901', 0, 30, 2047110815, 'adalovelace', 'physics') || run('902', 0, 30, 2047110816, 'bobthebuilder', 'bio')
    || run('903', 0, 30, 2047110815, 'adalovelace', 'physics') || run('905', 0, 30, 2047110815, 'adalovelace', 'physics'))
    AS first, account(13000, run('905', 12960, 12990, 2047110816, 'bobthebuilder', 'bio')) AS later;
SELECT sum(read(o.minute, o.minute + 1)) AS texts FROM generate_series(0, 20, 10) AS o (minute);
SELECT read(12965, 30) AS begun, read(12975, 40) AS done;
INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', now() - interval '1 second', E'osd-ldiskfs.fs-OST0000.quota_slave.acct_user=\nusr_accounting:\n'
    '- id:      2047110815\n  usage:   { inodes:  3, kbytes:  4 }\n- id:      2047110816\n  usage:   { inodes:  5, kbytes:  6 }\n');
INSERT INTO jobstats.used (day, cluster, filesystem, kind, id, kbytes, targets) VALUES (current_date - 11, '', 'fs', 'user', 2047110815, 9, 1);
INSERT INTO jobstats.managers VALUES (2047110815, 'physics');
INSERT INTO jobstats.events (kind, cluster, filesystem, began, found, until, ended, updated, severity, targets, servers, rate, details, notified, culprits)
SELECT 'waiting', '', 'fs', at(0), at(5), at(20), at(20), now(), 'warning', '{fs-OST0000}', '{oss1}', 1, '{}', now(), '{"by": "uid", "named": true, "subjects": [
    {"uid": 2047110815, "user_name": "adalovelace", "job": "901", "share": 0.9}, {"uid": 2047110816, "user_name": "bobthebuilder", "share": 0.1}]}';
UPDATE jobstats.watch SET watched_until = now();
CALL jobstats_maintain();

-- The sums that nobody's being forgotten may change: as answers, and as they are stored.
CREATE VIEW sums AS
SELECT 'totals' AS of, jsonb_build_array(t.target, t.account, t."partition", t.operation, t.total) AS sum
FROM (SELECT * FROM jobstats_totals(at(-480), at(20160), by => 'target,account,partition') r, dims(r.labels)) t
UNION ALL
SELECT 'entries', to_jsonb(t) FROM (SELECT account, "partition", operation, sum(total) AS total FROM (SELECT * FROM jobstats_totals(at(-480), at(20160), by => 'account,partition,entry') r, dims(r.labels)) AS jobstats_totals GROUP BY 1, 2, 3) t
UNION ALL
SELECT 'hours', jsonb_build_array(r."time", r.account, r.rate) FROM (SELECT * FROM jobstats_rates(at(0), at(120), 'write_bytes', 'account', '1 hour') r, dims(r.labels)) r
UNION ALL
SELECT 'days', to_jsonb(r) - 'entry_id' FROM (SELECT bucket, target_id, sum(write) AS write, sum(write_bytes) AS bytes FROM jobstats.rollup_1d GROUP BY 1, 2) r
UNION ALL
SELECT 'users', to_jsonb(r) FROM (SELECT bucket, target_id, sum(write) AS write FROM jobstats.rollup_1d_users GROUP BY 1, 2) r
UNION ALL
SELECT 'used', to_jsonb(u) FROM (SELECT day, kind, sum(kbytes) AS kbytes FROM jobstats.used GROUP BY 1, 2) u
UNION ALL
SELECT 'summaries', to_jsonb(s) FROM (SELECT account, "partition", sum(write_bytes) AS bytes, count(*) AS jobs, sum(active_nodes) AS nodes FROM jobstats.job_summaries GROUP BY 1, 2) s;
CREATE TABLE before AS TABLE sums;
CREATE VIEW changed AS (SELECT 'before' AS at, * FROM before EXCEPT ALL SELECT 'before', * FROM sums) UNION ALL (SELECT 'now', * FROM sums EXCEPT ALL SELECT 'now', * FROM before);
CREATE VIEW by_user AS
SELECT CASE WHEN uid > 4294967295 THEN 'pseudonym' ELSE coalesce(uid::text, '(null)') END AS who, count(DISTINCT uid) AS users, sum(total) AS bytes
FROM (SELECT * FROM jobstats_totals(at(-480), at(20160), 'write_bytes', 'uid') r, dims(r.labels)) AS jobstats_totals GROUP BY 1 ORDER BY 1;
TABLE by_user;
SELECT count(*) FROM before;
SELECT relation, "rows", first = at(0) AS from_zero, columns, kept FROM jobstats_personal_data(2047110815);
-- A reader who sees no names: pseudonyms of users and jobs, no filter by name, and no table.
CREATE ROLE regress_nameless;
SELECT jobstats_grant_reader('regress_nameless', names => NULL);
SELECT jobstats_grant_reader('regress_nameless', names => false) \gset
GRANT USAGE ON SCHEMA texts TO regress_nameless;
GRANT SELECT ON texts.clock TO regress_nameless;
CREATE VIEW everything AS SELECT uid, job, account, operation, total FROM (SELECT * FROM jobstats_totals(at(-480), at(20160), by => 'uid,job,account') r, dims(r.labels)) AS jobstats_totals;
CREATE TABLE named AS TABLE everything;
GRANT SELECT ON named TO regress_nameless;
SET ROLE regress_nameless;
CREATE TEMP TABLE nameless AS SELECT uid, job, account, operation, total FROM (SELECT * FROM jobstats_totals(at(-480), at(20160), by => 'uid,job,account') r, dims(r.labels)) AS jobstats_totals;
SELECT account, uid <> 0 AS is_user, uid > 4294967295 AS hidden, job LIKE 'pseudonym:%' AS job_hidden, count(*), count(DISTINCT uid) AS users, count(DISTINCT job) AS jobs, sum(total)
FROM nameless GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3;
SELECT count(*) AS different FROM ((SELECT account, operation, total FROM named EXCEPT ALL SELECT account, operation, total FROM nameless)
    UNION ALL (SELECT account, operation, total FROM nameless EXCEPT ALL SELECT account, operation, total FROM named)) d;
-- They are ordered by pseudonyms, which does not reveal the order of jobs.
CREATE TEMP TABLE ordered AS SELECT job, row_number() OVER () AS position FROM (SELECT * FROM jobstats_totals(at(-480), at(20160), 'write_bytes', 'job') r, dims(r.labels)) AS jobstats_totals;
SELECT count(*), array_agg(job ORDER BY position) = array_agg(job ORDER BY job NULLS LAST) AS in_their_order FROM ordered;
SELECT rank, uid > 4294967295 AS hidden, total FROM (SELECT * FROM jobstats_top(at(-480), at(20160), 'write_bytes', 'uid', filter => 'account=physics') r, dims(r.labels)) AS jobstats_top;
SELECT count(*) FROM jobstats_changes(at(0), at(10), 'write_bytes', 'account', at(10), at(20));
SELECT count(*) FROM jobstats_queues(at(0), at(20));
SELECT * FROM jobstats_totals(at(-480), at(20160), by => 'node');
SELECT * FROM jobstats_totals(at(-480), at(20160), by => 'account', filter => 'uid=2047110815');
SELECT * FROM jobstats_totals(at(-480), at(20160), by => 'account', exclude => '{"job": ["901"]}');
SELECT * FROM jobstats_changes(at(0), at(10), 'write_bytes', 'uid', at(10), at(20));
SELECT * FROM jobstats_balance(at(-480), at(20160));
SELECT * FROM jobstats_job_usage('901');
SELECT * FROM jobstats_space();
SELECT * FROM jobstats_internal.entries();
SELECT * FROM jobstats.secrets;
RESET ROLE;
DROP OWNED BY regress_nameless;
DROP ROLE regress_nameless;
-- There is something to be found in a dump, of everything but texts that are packed.
\! "$("${PG_CONFIG:-pg_config}" --bindir)/pg_dump" --exclude-schema='(public|texts)' 2>/dev/null | grep -qE "$ADA" && echo found

-- Who cannot be forgotten.
SELECT * FROM jobstats_forget_user(NULL);
SELECT * FROM jobstats_forget_user(0);
SELECT * FROM jobstats_forget_user(4294967296);

SELECT trace, "rows", gone - now() AS gone_in FROM jobstats_forget_user(2047110815);
TABLE changed;
TABLE by_user;
SELECT name LIKE 'pseudonym:%' AS forgotten, count(*), count(DISTINCT name) AS names, count(DISTINCT job) AS jobs, count(DISTINCT uid) AS users, count(node) AS nodes
FROM jobstats.entries GROUP BY 1;
SELECT name, job, status FROM jobstats.entries WHERE job = '905';
SELECT relation, "rows" FROM jobstats_personal_data(2047110815) WHERE "rows" > 0;

-- Other formats, matching again, and an audit have no effect.
CALL jobstats_maintain();
SELECT jobstats_reidentify();
CALL jobstats_maintain();
TABLE changed;
SELECT * FROM jobstats_audit(at(0), at(13000));
-- A reader does the audit as well, and does not learn the secret.
CREATE ROLE regress_personal;
SELECT jobstats_grant_reader('regress_personal') \gset
GRANT USAGE ON SCHEMA texts TO regress_personal;
SET ROLE regress_personal;
SELECT count(*) FROM jobstats_audit(now() - interval '12 days', now());
SELECT * FROM jobstats.secrets;
SELECT * FROM jobstats.forgotten;
SELECT * FROM jobstats_forget_user(2047110816);
SELECT * FROM jobstats_personal_data(2047110816);
RESET ROLE;
DROP OWNED BY regress_personal;
DROP ROLE regress_personal;
-- Texts bring something back, which maintenance forgets again: it is the work of the same pseudonym. Late text is placed, and late accounting
-- counts for the account.
SELECT account(13100, run('901', 0, 30, 2047110815, 'adalovelace', 'physics') || run('903', 0, 30, 2047110815, 'adalovelace', 'physics')
    || run('905', 0, 30, 2047110815, 'adalovelace', 'physics') || run('902', 0, 30, 2047110816, 'bobthebuilder', 'bio')), names(13100, 'adalovelace'),
    (SELECT i.action FROM jobstats_ingest('', 'login1', at(13100), source => 'group', body => E'adalovelace:x:2047110815:\nusers:x:100:bob\n') i) AS groups;
SELECT read(15, 16);
CALL jobstats_maintain();
TABLE changed;
SELECT account(13110, run('906', 0, 30, 2047110815, 'adalovelace', 'physics'));
SELECT i.action FROM jobstats_ingest('', 'login1', at(13110), source => 'group', body => E'adalovelace:x:2047110815:\nusers:x:100:bob\n') i;
CALL jobstats_maintain();
CALL jobstats_maintain();
SELECT at, of, sum ->> 'account' AS account, sum ->> 'total' AS total, sum ->> 'jobs' AS jobs FROM changed WHERE of IN ('entries', 'summaries') AND coalesce(sum ->> 'operation', 'write_bytes') = 'write_bytes' ORDER BY 2, 1, 3;
DELETE FROM before;
INSERT INTO before TABLE sums;
SELECT problem FROM jobstats.maintenance WHERE problem IS NOT NULL;
TABLE by_user;
-- The readings do not show the event, so late text has withdrawn it.
SELECT withdrawn IS NOT NULL AS withdrawn FROM jobstats.events;
UPDATE jobstats.events SET withdrawn = NULL;
-- With the last text the last reference to her is gone.
DO $$ BEGIN PERFORM jobstats_setup(raw_retention => '5 days', rejects_retention => '5 days'); END $$;
UPDATE jobstats.forgotten SET until = now();
CALL jobstats_maintain();
SELECT count(*) AS evidence, sum((jobstats_unpack(body) ~ '2047110815')::integer) AS of_her FROM jobstats.evidence;
UPDATE jobstats.settings SET evidence_retention = '5 days';
CALL jobstats_maintain();
SELECT count(*) AS evidence FROM jobstats.evidence;
TABLE jobstats.forgotten;
TABLE changed;
\! "$("${PG_CONFIG:-pg_config}" --bindir)/pg_dump" --exclude-schema='(public|texts)' 2>/dev/null | grep -E "$ADA|^CREATE TABLE jobstats.entries "
\! "$("${PG_CONFIG:-pg_config}" --bindir)/pg_dump" --exclude-schema='(public|texts)' 2>/dev/null | grep -qE "$BOB" && echo found

-- Bob is forgotten when what he did is old. Increments and hours are kept for less time.
DO $$ BEGIN PERFORM jobstats_setup(raw_retention => '1 day', retention => '2 days', rejects_retention => '1 day'); END $$;
CALL jobstats_maintain();
DELETE FROM before;
INSERT INTO before TABLE sums;
UPDATE jobstats.settings SET personal_retention = '2 days';
UPDATE jobstats.sweep SET people_forgotten = NULL, ended = NULL;
CALL jobstats_maintain();
CALL jobstats_maintain();
UPDATE jobstats.sweep SET people_forgotten = NULL;
CALL jobstats_maintain();
TABLE changed;
TABLE by_user;
SELECT DISTINCT job LIKE 'pseudonym:%' AS hidden, uid > 4294967295 AS of_pseudonym, state FROM jobstats.job_summaries ORDER BY 3;
SELECT jobstats_reidentify();
CALL jobstats_maintain();
TABLE changed;
SELECT problem FROM jobstats.maintenance WHERE problem IS NOT NULL;
-- He is still known by name, and by his files, as long as texts name him.
DELETE FROM jobstats.users;
DELETE FROM jobstats.used_now;
DELETE FROM jobstats.used_first;
\! "$("${PG_CONFIG:-pg_config}" --bindir)/pg_dump" --exclude-schema='(public|texts)' 2>/dev/null | grep -E "$BOB|^CREATE TABLE jobstats.entries "
-- What his program does from now on is his.
SELECT read(extract(epoch FROM now() - at(0)) / 60 - m.ago, 100 - m.ago) FROM (VALUES (2), (1)) AS m (ago);
SELECT name, status, uid FROM jobstats.entries WHERE uid = 2047110816 ORDER BY name COLLATE "C";

-- A store that has lost its secrets gets others.
DROP TABLE jobstats.secrets;
SELECT jobstats_setup() IS NOT NULL AS ready;
SELECT count(*) FROM jobstats.secrets;
