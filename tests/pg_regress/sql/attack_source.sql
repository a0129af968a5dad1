-- A hostile or broken sender of names can only write names.
\i store.sql
\set ECHO all
SET client_min_messages = error;
CREATE FUNCTION fed(body text, OUT action text, OUT entries integer, OUT added integer, OUT problems integer) LANGUAGE sql AS $$
SELECT action, entries, added, problems FROM jobstats_ingest('', 'login1', now(), body, source => 'passwd')
$$;
CREATE FUNCTION reasons() RETURNS TABLE (line integer, reason text, text text) LANGUAGE sql AS $$
WITH gone AS (DELETE FROM jobstats.rejects RETURNING line, reason, text)
SELECT line, reason, text FROM gone ORDER BY line NULLS LAST, reason
$$;

-- Names of megabytes, and a line of fifty.
SELECT * FROM fed(repeat('x', 5000000) || E':x:1:1::/h:/s\nada:x:2:1::/h:/s\n');
SELECT * FROM reasons();
SELECT * FROM fed('ada:x:2:1:' || repeat(':', 50000000) || E':/h:/s\n');
-- A hundred thousand invalid lines, and twenty thousand users.
SELECT * FROM fed(E'ada:x:2:1::/h:/s\n' || repeat(E'secret\n', 100000));
SELECT count(*), count(line), min(reason), max(text) FROM reasons();
SELECT * FROM fed((SELECT string_agg(format(E'user%s:x:%s:1::/h:/s\n', n, n), '') FROM generate_series(1000, 20999) n));
SELECT count(*), min(user_name), max(user_name) FROM jobstats.users;
SELECT * FROM fed((SELECT string_agg(format(E'user%s:x:%s:1::/h:/s\n', n, n), '') FROM generate_series(1000, 20999) n));
-- One number a hundred thousand times.
SELECT * FROM fed((SELECT string_agg(format(E'user%s:x:7:1::/h:/s\n', n), '') FROM generate_series(1, 100000) n));
SELECT uid, user_name FROM jobstats.users WHERE uid = 7;
-- Names that are SQL, HTML, text of a terminal, or end the line in other ways.
SELECT * FROM fed(E'''); DROP TABLE jobstats.users; --:x:10:1::/h:/s\n<script>:x:11:1::/h:/s\n\u001b[31mred:x:12:1::/h:/s\n'
    'a\rb:x:13:1::/h:/s\na\u0085b:x:14:1::/h:/s\na\u2028b:x:15:1::/h:/s\n%n%s$1\\:x:16:1::/h:/s\n');
SELECT uid, user_name FROM jobstats.users WHERE uid BETWEEN 10 AND 16 ORDER BY uid;
SELECT * FROM reasons();
-- Bytes that are no text: NUL and Latin-1 (packed, since a text of PostgreSQL cannot have them).
SELECT action, entries, problems FROM jobstats_ingest('', 'login1', now(), NULL,
    '\x28b52ffd0458450100f861003a783a32303a313a3a2f683a2f730afc3a783a3231626f623a783a3232020035373fdb6c021970b1ac', source => 'passwd');
SELECT * FROM reasons();
-- A sender may set any names of any day, except of the future and before 1970. A number keeps a hundred names.
SELECT f.action
FROM (VALUES (now() + interval '1 hour'), ('200000-01-01'), ('4000-01-01 BC'), ('1969-12-31 23:59:59+00')) AS times (t),
    jobstats_ingest('', 'login1', t, E'ever:x:30:1::/h:/s\n', source => 'passwd') f;
SELECT jobstats_ingest('', 'login1', 'infinity', E'ever:x:30:1::/h:/s\n', source => 'passwd');
SELECT * FROM reasons();
SELECT count(*) FROM (SELECT jobstats_ingest('', 'login1', timestamptz 'epoch' + n * interval '1 day', format(E'n%s:x:31:%s::/h:/s\n', n, n), source => 'passwd')
    FROM generate_series(0, 119) n OFFSET 0) f;
SELECT user_name, gid, since FROM jobstats.users WHERE uid = 31;
SELECT count(*), min(since), max(until) FROM jobstats.earlier_users WHERE uid = 31;
-- Names from jobs do not replace others, and have a limited length.
SELECT action, entries FROM jobstats_ingest('c', 'slurm1', now(), E'JobIDRaw|Submit|Start|UID|User|GID|Group\n1|2025-03-03T10:00:00|2025-03-03T11:00:00|31|root|0|' || repeat('x', 256) ||
    E'\n2|2025-03-03T10:00:00|2025-03-03T11:00:00|32|a\u0007b|1|' || repeat('y', 255) || E'\n3|2025-03-03T10:00:00|2025-03-03T11:00:00|4294967295|none|-1|none\n', source => 'slurm');
SELECT user_name FROM jobstats.users WHERE uid IN (31, 32, 4294967295);
SELECT gid, length(group_name) FROM jobstats.groups;
-- Text that is larger than max_text, packed and not.
UPDATE jobstats.settings SET max_text = 1000;
SELECT * FROM fed(repeat(E'ada:x:2:1::/h:/s\n', 100));
\echo :LAST_ERROR_SQLSTATE
UPDATE jobstats.settings SET max_text = 268435456;
-- Names of sources of any length.
INSERT INTO jobstats.feed (server, body, source) VALUES ('login1', '', repeat('x', 1000000));
\echo :LAST_ERROR_SQLSTATE
INSERT INTO jobstats.feed (server, body, source) VALUES ('login1', '', repeat('x', 2000000));
\echo :LAST_ERROR_SQLSTATE

-- A text of passwd that names itself job_stats, and one of job_stats that names itself passwd, leave only a reject.
INSERT INTO jobstats.feed (server, body) VALUES ('login1', E'\n# secret\nada:secret:2:1:secret:/h:/s\n');
INSERT INTO jobstats.feed (server, body, source) VALUES ('login1', ost('fs-OST0000', record('a.1', 1, 4096)), 'passwd');
SELECT * FROM reasons();
-- Neither does shadow, whatever it is fed as: no line of it, and no text. Behind other lines it is rejected without its lines.
CREATE VIEW shadow AS SELECT string_agg(format(E'u%s:$6$salt$secret%1$s:19000:0:99999:7:::\n', n), '') AS body FROM generate_series(1, 20) n;
INSERT INTO jobstats.feed (server, body) SELECT 'login1', body FROM shadow;
INSERT INTO jobstats.feed (server, body, source) SELECT 'login1', body, source FROM shadow, unnest('{passwd,group,openmetrics,slurm,pbs,lsf,gridengine,flux}'::text[]) source;
SELECT * FROM reasons();
INSERT INTO jobstats.feed (server, body) SELECT 'login1', repeat(E'x\n', 10) || body FROM shadow;
SELECT reason, text FROM jobstats.rejects WHERE reason <> 'another source' ORDER BY line DESC LIMIT 1;
SELECT count(*) AS secrets FROM jobstats.rejects r WHERE r.text LIKE '%secret%';
SELECT count(*) AS texts FROM jobstats.texts t WHERE jobstats_unpack(t.body) LIKE '%secret%';
TRUNCATE jobstats.rejects;
-- Lines of passwd within job_stats are its raw text, which only readers see; its sender put them there.
INSERT INTO jobstats.feed (server, body) VALUES ('oss1', ost('fs-OST0000', record('a.1', 1, 4096)) || E'ada:x:2:1:note:/h:/s\n');
SELECT * FROM reasons();

-- A feed with an open transaction blocks feeds of names only; see also the isolation test source_passwd. All can be canceled: these texts
-- take seconds.
SET statement_timeout = '300ms';
SELECT * FROM fed(repeat(E'secret\n', 9000000));
SELECT * FROM fed((SELECT string_agg(format(E'other%s:x:%s:1::/h:/s\n', n, n), '') FROM generate_series(1000, 200999) n));
RESET statement_timeout;
SELECT count(*) FROM jobstats.users WHERE user_name LIKE 'other%';
