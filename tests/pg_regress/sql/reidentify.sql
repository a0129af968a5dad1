-- Formats of identifiers: which jobid_name the clients have is configured, and may be learned later.
\i store.sql
\set ECHO all
CREATE VIEW identities AS
SELECT name, job, uid, node, executable, pid, format, status, workload FROM jobstats.entries ORDER BY name COLLATE "C";

-- The site has another format than the default: a NOTICE at its first text names the remedy, once.
INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', at(0), ost('fs-OST0000',
    record('dd@1000@login1', 1, 4096), record('cp@1001@login2', 1, 4096), record('mv@1002@login1', 1, 4096), record('dd.0', 1, 4096)));
INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', at(2), ost('fs-OST0000',
    record('dd@1000@login1', 2, 8192), record('cp@1001@login2', 2, 8192), record('mv@1002@login1', 1, 4096), record('dd.0', 2, 8192)));
TABLE identities;
SELECT jobstats_reidentify();

-- The statement of the notice.
INSERT INTO jobstats.entry_formats SELECT coalesce(max(priority), 0) + 1, '%e@%u@%H' FROM jobstats.entry_formats; SELECT jobstats_reidentify();
TABLE identities;
SELECT jobstats_reidentify();

-- From now on they are identified as they come.
INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', at(4), ost('fs-OST0000',
    record('dd@1000@login1', 2, 8192), record('cp@1001@login2', 2, 8192), record('mv@1002@login1', 2, 8192), record('dd.0', 2, 8192)));
SELECT * FROM identities WHERE executable = 'mv';

-- Where the identifier names no node, the label of its format replaces it.
UPDATE jobstats.entry_formats SET node_label = 'service' WHERE format = '%e.%u';
SELECT jobstats_reidentify();
SELECT * FROM identities WHERE executable = 'dd';

-- Formats are tried in order of priority.
INSERT INTO jobstats.entry_formats VALUES (0, '%j@%u@%h', NULL);
SELECT jobstats_reidentify();
TABLE identities;
DELETE FROM jobstats.entry_formats WHERE priority = 0;

-- An invalid format is refused, and entries stay. The feed goes on without it.
INSERT INTO jobstats.entry_formats VALUES (9, 'no code', NULL);
SELECT jobstats_reidentify();
\echo :LAST_ERROR_SQLSTATE
SELECT count(*) FROM identities WHERE job IS NOT NULL;
INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', at(6), ost('fs-OST0000', record('tar@1000@login1', 1, 4096)));
SELECT * FROM identities WHERE executable = 'tar';

-- Without any format no entry matches; the remedy is the same.
DELETE FROM jobstats.entry_formats;
SELECT jobstats_reidentify();
SELECT status, count(*) FROM identities GROUP BY status;
INSERT INTO jobstats.entry_formats SELECT coalesce(max(priority), 0) + 1, '%e@%u@%H' FROM jobstats.entry_formats; SELECT jobstats_reidentify();
