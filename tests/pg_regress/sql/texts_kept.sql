-- Texts of jobs and names are kept for the owner alone, each body once, and can be read again.
\i store.sql
\set ECHO all
\pset null '(null)'
CREATE FUNCTION texts.sacct(VARIADIC rows text[]) RETURNS text LANGUAGE sql IMMUTABLE AS $$
SELECT E'JobIDRaw|Submit|Start|End|User|State\n' || array_to_string(rows, E'\n') || E'\n'
$$;
CREATE VIEW shown AS
SELECT cluster, source, server, extract(epoch FROM "time")::int % 100000 AS "time", octet_length(digest) AS digest, records, problems,
    convert_from(jobstats_unpack(body)::bytea, 'UTF8') AS body
FROM jobstats.texts ORDER BY source, cluster, server, texts."time";
CREATE FUNCTION fed(body text, at integer, source text DEFAULT 'slurm', cluster text DEFAULT '', server text DEFAULT 's1',
    OUT action text, OUT entries integer, OUT active integer, OUT problems integer)
LANGUAGE sql AS $$
SELECT action, entries, active, problems FROM jobstats_ingest(cluster, server, to_timestamp(1700000000 + at), body, source => source)
$$;

-- As they came, packed or not, with unusable lines.
SELECT * FROM fed(sacct('1|1700000000|1700000010|Unknown|ada|RUNNING', 'damaged'), 100);
SELECT action, entries FROM jobstats_ingest('', 's1', to_timestamp(1700000200), source => 'slurm',
    body_zstd => (SELECT body FROM jobstats.texts));
TABLE shown;
-- A text that equals an earlier one has no separate body. It is read all the same, as it shows that the job still runs.
SELECT count(*) AS texts, count(body) AS bodies FROM jobstats.texts;
SELECT updated = to_timestamp(1700000200) AS is_confirmed FROM jobstats.jobs;
-- The same text once more is known, and another text of that time is rejected.
SELECT * FROM fed(sacct('1|1700000000|1700000010|Unknown|ada|RUNNING', 'damaged'), 100);
SELECT * FROM fed(sacct('1|1700000000|1700000010|1700000020|ada|FAILED'), 100);
SELECT count(*) AS stored, max(state) AS state FROM jobstats.jobs;
SELECT line, reason, text FROM jobstats.rejects ORDER BY "time", line;
-- Another server, cluster or source has separate texts.
SELECT * FROM fed(sacct('1|1700000000|1700000010|Unknown|ada|RUNNING', 'damaged'), 100, server => 's2');
SELECT * FROM fed(sacct('1|1700000000|1700000010|Unknown|ada|RUNNING', 'damaged'), 100, cluster => 'c');
SELECT cluster, server, count(*) AS texts, count(body) AS bodies FROM jobstats.texts GROUP BY 1, 2 ORDER BY 1, 2;

-- A text without a usable line is kept for a later version. A text of another source or of the future is not.
SELECT * FROM fed(E'a new header\n1\n', 300);
SELECT * FROM fed(E'ada:secret:1000:100:Ada:/home/ada:/bin/sh\n', 301);
SELECT action FROM jobstats_ingest('', 's1', '2199-01-01', sacct('1|1700000000|1700000010|Unknown|ada|RUNNING'), source => 'slurm');
SELECT "time", records, problems, body FROM shown WHERE "time" >= 300;
-- Of users there are only names and numbers.
SELECT * FROM fed(E'bob:hash:7:8:Bob, room 5:/home/bob:/bin/sh\nada:hash:5:8:Ada:/home/ada:/bin/sh\ndamaged\n', 400, 'passwd');
SELECT * FROM fed(E'ada:changed:5:8:Ada, room 6:/home/ada:/bin/sh\nbob:hash:7:8::/home/bob:/bin/sh\n', 500, 'passwd');
SELECT * FROM fed(E'ada:changed:5:8:Ada, room 7:/home/ada:/bin/sh\nbob:hash:7:8::/home/bob:/bin/sh\n', 500, 'passwd');
SELECT "time", records, problems, body FROM shown WHERE source = 'passwd';

-- As a later version would read them: the rows come back, unchanged rows stay, and each text has a row.
CREATE TABLE before AS TABLE jobstats.jobs;
SELECT first AS "time", source, name, computed, skipped, changed, problem FROM jobstats_reprocess('2023-11-14', '2023-11-16', source => NULL) ORDER BY 1, 2, 3;
SELECT count(*) AS changed FROM ((TABLE before EXCEPT TABLE jobstats.jobs) UNION ALL (TABLE jobstats.jobs EXCEPT TABLE before)) d;
DELETE FROM jobstats.jobs;
DELETE FROM jobstats.users;
UPDATE jobstats.texts SET records = 0, problems = 9;
CREATE TABLE rejected AS TABLE jobstats.rejects;
SELECT extract(epoch FROM first)::int % 100000 AS "time", source, cluster, name, computed, skipped, changed, problem
FROM jobstats_reprocess('2023-11-14', '2023-11-16', source => NULL);
SELECT count(*) AS changed FROM ((TABLE before EXCEPT TABLE jobstats.jobs) UNION ALL (TABLE jobstats.jobs EXCEPT TABLE before)) d;
SELECT uid, user_name FROM jobstats.users ORDER BY uid;
SELECT "time", records, problems FROM shown WHERE cluster = '' AND server = 's1';
SELECT count(*) AS rejected_again FROM (TABLE jobstats.rejects EXCEPT ALL TABLE rejected) r;
-- By source, cluster and time.
SELECT source, cluster, count(*) FROM jobstats_reprocess('2023-11-14', '2023-11-16', source => 'passwd') GROUP BY 1, 2;
SELECT source, cluster, count(*) FROM jobstats_reprocess('2023-11-14', '2023-11-16', 'cluster=c', source => NULL) GROUP BY 1, 2;
SELECT source, count(*) FROM jobstats_reprocess(to_timestamp(1700000100), to_timestamp(1700000200), source => NULL) GROUP BY 1;
-- A text that fails does not keep the others from being read.
UPDATE jobstats.texts SET body = '\x00' WHERE cluster = 'c';
UPDATE jobstats.texts SET body = NULL WHERE server = 's2';
SELECT cluster, name, computed, problem FROM jobstats_reprocess('2023-11-14', to_timestamp(1700000100), source => NULL) ORDER BY 1, 2;
-- Bad questions.
SELECT * FROM jobstats_reprocess('2023-11-16', '2023-11-14', source => 'slurm');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM jobstats_reprocess('2023-11-14', '2023-11-16', source => 'sacct');
\echo :LAST_ERROR_SQLSTATE
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT * FROM jobstats_reprocess('2023-11-14', '2023-11-16', source => 'slurm');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;

-- Texts go after raw_retention. A body passes to the next text that is equal to it.
UPDATE jobstats.texts SET received = now() - interval '3 days' WHERE "time" IN (to_timestamp(1700000100), to_timestamp(1700000400));
CALL jobstats_maintain();
SELECT "time", source, server, body FROM shown;
SELECT affected FROM jobstats.maintenance WHERE step = 'retention of texts';
UPDATE jobstats.texts SET received = now() - interval '3 days';
CALL jobstats_maintain();
TABLE shown;

-- Only the owner reads them: not a reader, not a role that was a reader before there were texts, and not a writer.
SET client_min_messages = warning;
CREATE ROLE regress_texts_reader;
CREATE ROLE regress_texts_early;
CREATE ROLE regress_texts_writer;
RESET client_min_messages;
SELECT jobstats_grant_reader('regress_texts_early') \gset
DROP VIEW shown;
DROP TABLE jobstats.texts;
SELECT jobstats_setup() IS NOT NULL AS ready;
SELECT jobstats_grant_reader('regress_texts_reader') \gset
SELECT jobstats_grant_writer('regress_texts_writer', sources => '{slurm}') \gset
SELECT relacl FROM pg_class WHERE oid = 'jobstats.texts'::regclass AND relacl::text ~ 'regress';
SET ROLE regress_texts_reader;
SELECT count(*) FROM jobstats.texts;
\echo :LAST_ERROR_SQLSTATE
SELECT count(*) FROM jobstats.covered;
SELECT * FROM jobstats_reprocess('2023-11-14', '2023-11-16', source => 'slurm');
\echo :LAST_ERROR_SQLSTATE
SET ROLE regress_texts_early;
SELECT count(*) FROM jobstats.texts;
\echo :LAST_ERROR_SQLSTATE
SET ROLE regress_texts_writer;
SELECT count(*) FROM jobstats.texts;
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM jobstats_internal.reread('', 'slurm', 's1', now());
\echo :LAST_ERROR_SQLSTATE
RESET ROLE;
-- The owner may let somebody read them, and setup leaves that as it is.
GRANT SELECT ON jobstats.texts TO regress_texts_early;
SELECT jobstats_setup() IS NOT NULL AS ready;
SET ROLE regress_texts_early;
SELECT count(*) FROM jobstats.texts;
RESET ROLE;
DROP OWNED BY regress_texts_reader, regress_texts_early, regress_texts_writer;
DROP ROLE regress_texts_reader, regress_texts_early, regress_texts_writer;
