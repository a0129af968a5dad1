-- The source group: getent group fills jobstats.groups. Texts of passwd and group are never taken for each other.
\i store.sql
\set ECHO all
-- Each text comes from a separate server: a server has one text of a time.
CREATE SEQUENCE server;
CREATE FUNCTION fed(body text, source text, OUT action text, OUT entries integer, OUT active integer, OUT added integer, OUT problems integer)
LANGUAGE sql AS $$
SELECT action, entries, active, added, problems FROM jobstats_ingest('', 'login' || nextval('server'), at(0), body, source => source)
$$;

-- Groups, as getent prints them: with and without members, of a domain, lines of NIS are skipped, the first of two names counts.
\set group 'root:x:0:\nusers:$6$secret:100:ada,bob\nwheel:x:0:eve\n\n+:::\n# local\nDOM\\domain users:*:4294967294:\nhpc-ö@example.org:*:2000:ada'
SELECT * FROM fed(:'group', 'group');
SELECT gid, group_name, since = date_trunc('day', at(0)) AS since_day, seen = at(0) AS seen, source FROM jobstats.groups ORDER BY gid;
-- The second time no group is new. A part of the groups leaves the others unchanged.
SELECT * FROM fed(:'group', 'group');
SELECT * FROM fed(E'users:x:100:\r\nstaff:x:50:\r\n', 'group');
SELECT gid, group_name FROM jobstats.groups ORDER BY gid;
-- As the system prints it, and packed.
\set body `getent group 0`
SELECT action, entries, problems FROM fed(:'body', 'group');
-- A line with a hundred thousand members.
SELECT * FROM fed('all:x:60:' || repeat('member,', 100000) || E'eve\n', 'group');
SELECT count(*), max(length(group_name)) FROM jobstats.groups;

-- What cannot be used: line and reason, and never the line.
SELECT * FROM fed(E'secret\nfrank:secret:4294967295:\ngina:secret:-1:\n:secret:1005:\nivy:x:1007:\nj\u0007secret:x:1008:\nkim:secret:1009:a:secret\n', 'group');
SELECT line, reason, text FROM jobstats.rejects ORDER BY line;
TRUNCATE jobstats.rejects;

-- Texts of the other database, of neither, and of the future leave a reject.
SELECT * FROM fed(E'ada:secret:1:1:secret:/h:/s\n', 'group');
SELECT * FROM fed(E'users:secret:100:ada\n', 'passwd');
SELECT * FROM fed(E'users:secret:100:ada\n', 'slurm');
SELECT * FROM fed(E'users:secret:100:ada\n', NULL);
SELECT * FROM fed(ost('fs-OST0000', record('a.1000', 1, 4096)), 'group');
SELECT * FROM fed('', 'group');
SELECT * FROM fed(E'+:::\n', 'group');
SELECT action FROM jobstats_ingest('', 'login1', now() + interval '1 day', E'late:x:7:\n', source => 'group');
SELECT action FROM jobstats_ingest('', 'login1', now() + interval '1 day', E'late:x:7:1::/h:/s\n', source => 'passwd');
SELECT reason, text FROM jobstats.rejects ORDER BY reason, "time";
SELECT count(*) FROM jobstats.users;
SELECT count(*) AS secrets
FROM (SELECT to_jsonb(g)::text FROM jobstats.groups g UNION ALL SELECT to_jsonb(r)::text FROM jobstats.rejects r) AS stored (row)
WHERE row ~ 'secret|member|eve';

-- A group that is renamed, some days later, and a text from before.
SELECT action, active, added FROM jobstats_ingest('', 'login1', at(0) - interval '10 days', E'people:x:100:\n', source => 'group');
SELECT group_name, since = date_trunc('day', at(0)) AS since_day FROM jobstats.groups WHERE gid = 100;
SELECT group_name, date_trunc('day', at(0)) - since AS since, date_trunc('day', at(0)) - until AS until FROM jobstats.earlier_groups;

-- Who may send groups may not send users, and the other way round.
SET client_min_messages = warning;
CREATE ROLE regress_groups;
RESET client_min_messages;
SELECT jobstats_grant_writer('regress_groups', sources => '{group}') \gset
SET SESSION AUTHORIZATION regress_groups;
INSERT INTO jobstats.feed (server, body, source) VALUES ('login1', E'mine:x:70:\n', 'group');
INSERT INTO jobstats.feed (server, body, source) VALUES ('login1', E'evil:x:0:0::/h:/s\n', 'passwd');
\echo :LAST_ERROR_SQLSTATE
RESET SESSION AUTHORIZATION;
SELECT gid, group_name FROM jobstats.groups WHERE gid = 70;
DROP OWNED BY regress_groups;
DROP ROLE regress_groups;
