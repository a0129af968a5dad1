-- The source passwd: getent passwd fills jobstats.users, and no sum depends on a name. See also users_history.
\i store.sql
\set ECHO all

-- Work of three users, in texts without a source and with source NULL, as older shippers and others send them.
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('oss1', at(0), ost('fs-OST0000', record('a.1000', 1, 4096), record('b.1001', 1, 4096), record('c.1002', 1, 4096)));
INSERT INTO jobstats.feed (server, "time", body, source) VALUES
    ('oss1', at(10), ost('fs-OST0000', record('a.1000', 11, 45056), record('b.1001', 21, 86016), record('c.1002', 31, 126976)), NULL),
    ('oss1', at(20), ost('fs-OST0000', record('a.1000', 12, 49152), record('b.1001', 23, 94208), record('c.1002', 34, 139264)), 'lctl');
SELECT count(*) FROM increments;

-- Names, as getent prints them: colons in GECOS, names of a domain, the first of two names counts, lines of NIS are skipped.
\set passwd 'root:x:0:0:root:/root:/bin/bash\nada:$6$secret:1000:100:Ada Lovelace, room 13:43:/home/ada:/bin/bash\ntoor:x:0:0::/root:/bin/sh\n\nbob@example.org:*:1001:100:Bob:/home/bob:\n+::::::\n-eve::::::\n+@staff::::::\n# local\nDOM\\svc user$:x:4294967294:1::/:/usr/sbin/nologin'
SELECT * FROM jobstats_ingest('', 'login1', NULL, :'passwd', source => 'passwd');
SELECT uid, user_name, gid FROM jobstats.users ORDER BY uid;
-- The second time no name is new, and no row is written or locked.
CREATE TABLE versions AS SELECT uid, xmin AS made, xmax AS locked, ctid AS place FROM jobstats.users;
SELECT target, action, entries, active, added, problems FROM jobstats_ingest('', 'login1', NULL, :'passwd', source => 'passwd');
SELECT count(*) AS rewritten FROM (SELECT uid, xmin, xmax, ctid FROM jobstats.users EXCEPT SELECT * FROM versions) v;
-- A part of the users, as `getent passwd 1000 1002` prints them: the others keep their names. Ends of lines as of Windows.
SELECT action, entries, active, added FROM jobstats_ingest('', 'login1', NULL,
    E'ada:x:1000:100::/home/ada:/bin/bash\r\ncarl:x:1002:100::/home/carl:/bin/bash\r\n', source => 'passwd');
SELECT uid, user_name, gid FROM jobstats.users ORDER BY uid;
-- Packed, and by COPY.
INSERT INTO jobstats.feed (server, body_zstd, source) VALUES ('login1', '\x28b52ffd0458a1000064616e3a783a313030333a313a3a2f683a2f730aea31e1cd', 'passwd');
COPY jobstats.feed (server, body, source) FROM stdin;
login1	eve:x:1004:1::/h:/s\n	passwd
\.
SELECT uid, user_name FROM jobstats.users WHERE uid IN (1003, 1004) ORDER BY uid;
-- As docs/sources.md has it for psql.
\set body `getent passwd 0 | awk -F: '{ print $1 ":x:" $3 ":" $4 "::/:" }'`
SELECT action, entries, active, problems FROM jobstats_ingest('', 'login1', NULL, :'body', source => 'passwd');
SELECT string_agg(DISTINCT uid::text, ' ') AS uids FROM jobstats.users WHERE uid IN (0, 1002) \gset
\set body `getent passwd :uids`
SELECT action, entries FROM jobstats_ingest('', 'login1', NULL, :'body', source => 'passwd');

-- A renamed user keeps all usage, in increments and in rollups, without computing them again.
CALL jobstats_maintain();
CREATE VIEW answers AS
SELECT 'top' AS function, to_jsonb(r) AS answer FROM jobstats_top(at(0), at(20), 'write', 'uid') r
UNION ALL
SELECT 'rates', to_jsonb(r) FROM jobstats_rates(at(0), at(20), 'write,write_bytes', 'uid', interval '10 minutes') r
UNION ALL
SELECT 'totals', to_jsonb(r) FROM jobstats_totals(at(0), at(20), by => 'uid') r
UNION ALL
SELECT 'now', to_jsonb(n) - 'age' FROM jobstats_now(by => 'workload,account') n
UNION ALL
SELECT 'rates by row', to_jsonb(r) - 'user_name' FROM jobstats.rates r
UNION ALL
SELECT 'rates_10m', to_jsonb(r) - 'user_name' FROM jobstats.rates_10m r;
CREATE TABLE before AS TABLE answers;
SELECT uid, user_name, sum(write) AS write FROM jobstats.rates GROUP BY 1, 2 ORDER BY 1;
SELECT action, entries, active, added FROM jobstats_ingest('', 'login1', NULL,
    E'countess:x:1000:100::/home/ada:/bin/bash\ncarl:x:1002:100::/home/carl:/bin/bash\n', source => 'passwd');
SELECT uid, user_name, sum(write) AS write FROM jobstats.rates GROUP BY 1, 2 ORDER BY 1;
SELECT function, count(*) FROM before GROUP BY 1 ORDER BY 1;
SELECT function, answer FROM ((TABLE before EXCEPT ALL TABLE answers) UNION ALL (TABLE answers EXCEPT ALL TABLE before)) changed;
SELECT count(*) AS dirty FROM jobstats.dirty;
SELECT count(*) AS findings FROM jobstats_audit(at(-60), now());

-- What cannot be used: line and reason, and never the line, where a password may be anywhere.
SELECT action, entries, problems FROM jobstats_ingest('', 'login1', at(30),
    E'$6$secret\nfrank:secret:4294967295:1::/h:/s\ngina:secret:-1:1::/h:/s\n:secret:1005:1::/h:/s\nhal:secret:1006:1:secret\n'
    'ivy:x:1007:1::/h:/s\nj\u0007secret:x:1008:1::/h:/s\nkim:secret:1009:staff::/h:/s\n', source => 'passwd');
SELECT cluster, server, target, minute("time") AS "time", line, reason, text FROM jobstats.rejects ORDER BY line;
SELECT count(*) AS secrets
FROM (SELECT to_jsonb(u)::text FROM jobstats.users u UNION ALL SELECT to_jsonb(r)::text FROM jobstats.rejects r) AS stored (row)
WHERE row ~ 'secret|Lovelace|/home|/bin';

-- Texts of no use are rejected with a warning.
SELECT target, action FROM jobstats_ingest('', 'login1', at(40), '', source => 'passwd');
SELECT target, action FROM jobstats_ingest('', 'login1', at(41), E'root:$6$secret:19000:0:99999:7:::\n', source => 'passwd');
SELECT target, action FROM jobstats_ingest('', 'login1', at(42), :'passwd');
SELECT target, action FROM jobstats_ingest('', 'oss1', at(43), ost('fs-OST0000', record('a.1000', 1, 4096)), source => 'passwd');
SELECT minute("time") AS "time", line, reason, text FROM jobstats.rejects WHERE "time" >= at(40) ORDER BY "time";
SELECT count(*) FROM jobstats.observations WHERE "time" >= at(40);

-- The span that a text covers is accepted, and has no effect for this source.
INSERT INTO jobstats.feed (cluster, server, "time", body, duration, shipper, source, covers)
VALUES ('', 'login1', at(40), E'fay:x:1005:1::/h:/s\n', '2 seconds', 'a shipper', 'passwd', tstzrange(at(20), at(40)));
SELECT uid, user_name FROM jobstats.users WHERE uid = 1005;
-- Sources that do not exist.
SELECT * FROM jobstats_ingest('', 'login1', NULL, :'passwd', source => 'netgroup');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO jobstats.feed (server, body, source) VALUES ('login1', :'passwd', '');
\echo :LAST_ERROR_SQLSTATE
