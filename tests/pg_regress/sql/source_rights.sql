-- Who writes job_stats cannot write names, and the other way round, unless it was granted both.
\i store.sql
\set ECHO all
SET client_min_messages = warning;
CREATE ROLE regress_source_oss;
CREATE ROLE regress_source_login;
CREATE ROLE regress_source_both;
GRANT USAGE ON SCHEMA texts TO PUBLIC;
RESET client_min_messages;
CREATE VIEW granted AS SELECT role, cluster, server, target, sources FROM jobstats.writers ORDER BY role::text, cluster, server;
GRANT SELECT ON granted TO PUBLIC;

SELECT jobstats_grant_writer('regress_source_oss', 'c1', 'oss1', 'fs-OST000*') \gset
SELECT jobstats_grant_writer('regress_source_login', 'c1', sources => '{passwd}') \gset
SELECT jobstats_grant_writer('regress_source_both', sources => '{passwd,lctl,passwd}') \gset
TABLE granted;

SET SESSION AUTHORIZATION regress_source_oss;
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c1', 'oss1', ost('fs-OST0000', record('a.1', 1, 4096)));
INSERT INTO jobstats.feed (cluster, server, body, source) VALUES ('c1', 'oss1', E'evil:x:0:0::/root:/bin/sh\n', 'passwd');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO jobstats.feed (cluster, server, body, source) VALUES ('c1', 'oss1', E'evil:x:0:0::/root:/bin/sh\n', 'netgroup');
\echo :LAST_ERROR_SQLSTATE
-- Under the name of job_stats it is no use either.
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c1', 'oss1', E'evil:x:0:0::/root:/bin/sh\n');
INSERT INTO jobstats.users VALUES (0, 'evil');
SELECT jobstats_internal.ingest('', 'x', NULL, E'evil:x:0:0::/root:/bin/sh\n', NULL, NULL, NULL, 'passwd', NULL);
SET SESSION AUTHORIZATION regress_source_login;
INSERT INTO jobstats.feed (cluster, server, body, source) VALUES ('c1', 'login1', E'ada:x:1:1::/h:/s\n', 'passwd');
INSERT INTO jobstats.feed (cluster, server, body, source) VALUES ('c2', 'login1', E'evil:x:1:1::/h:/s\n', 'passwd');
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c1', 'login1', ost('fs-OST0000', record('a.1', 9, 9 * 4096)));
\echo :LAST_ERROR_SQLSTATE
INSERT INTO jobstats.feed (cluster, server, body, source) VALUES ('c1', 'login1', ost('fs-OST0000', record('a.1', 9, 9 * 4096)), NULL);
SELECT uid, user_name FROM jobstats.users ORDER BY uid;
SET SESSION AUTHORIZATION regress_source_both;
INSERT INTO jobstats.feed (cluster, server, body, source) VALUES ('c2', 'login1', E'bob:x:2:1::/h:/s\n', 'passwd');
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c2', 'oss1', ost('fs-OST0000', record('a.1', 1, 4096)));
RESET SESSION AUTHORIZATION;
SELECT uid, user_name FROM jobstats.users ORDER BY uid;
SELECT cluster, name FROM jobstats.targets;
SELECT cluster, target, reason, text FROM jobstats.rejects;

-- A grant for another source adds it; a narrower one takes that source alone from the wider one.
SELECT jobstats_grant_writer('regress_source_oss', 'c1', 'oss1', 'fs-OST000*', '{passwd}') \gset
SELECT jobstats_grant_writer('regress_source_both', 'c2', sources => '{passwd}') \gset
TABLE granted;
-- Who is bound for a source stays bound for it.
SELECT jobstats_grant_writer('regress_source_both', sources => '{passwd}');
SELECT jobstats_grant_writer('regress_source_login') \gset
TABLE granted;
SELECT jobstats_grant_writer('regress_source_login', sources => NULL) \gset
TABLE granted;
SELECT jobstats_grant_writer('regress_source_login', sources => '{lctl,netgroup}');
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_grant_writer('regress_source_login', sources => '{}');
\echo :LAST_ERROR_SQLSTATE

DROP OWNED BY regress_source_oss, regress_source_login, regress_source_both;
DROP ROLE regress_source_oss, regress_source_login, regress_source_both;
