-- Formats of some nodes, distinguished by the node in the identifier; and every code that jobid_name may have.
\i store.sql
\set ECHO all
\set VERBOSITY terse

-- A new store has no node where the identifier lacks one.
TABLE jobstats.entry_formats ORDER BY priority;
-- Login nodes send the program where compute nodes send the job.
INSERT INTO jobstats.entry_formats (priority, format, node_pattern) VALUES (0, '%e:%u:%H', 'login*');
SELECT entry, job, uid, node, executable, format, status
FROM unnest('{4711:1000:n101,bash:1000:login1,4711:1000:login2,bash:1000:login1.site.fi,4711:1000:n101.site.fi,bash:1000:,4711:1000:,bash.1000}'::text[])
    WITH ORDINALITY AS e (entry, position), jobstats_identify(entry)
ORDER BY position;
SELECT count(f) FROM jobstats_ingest('', 'oss1', at(0), ost('fs-OST0000', record('4711:1000:n101', 1, 4096), record('4711:1000:login2', 1, 4096))) f;
SELECT count(f) FROM jobstats_ingest('', 'oss1', at(5), ost('fs-OST0000', record('4711:1000:n101', 2, 8192), record('4711:1000:login2', 2, 8192))) f;
SELECT name, job, uid, node, executable, format FROM jobstats.entries ORDER BY name;
-- Short and long names are one node in answers, and two entries.
SELECT count(f) FROM jobstats_ingest('', 'oss1', at(10), ost('fs-OST0000', record('4711:1000:n101', 3, 12288), record('4711:1000:n101.site.fi', 1, 4096))) f;
SELECT node, job, total FROM (SELECT * FROM jobstats_totals(at(0), at(10), 'write', 'node,job') r, dims(r.labels)) AS jobstats_totals ORDER BY node;
SELECT count(*) FROM jobstats.entries WHERE node = 'n101';

-- A format without a node cannot apply to some nodes.
INSERT INTO jobstats.entry_formats (priority, format, node_label, node_pattern) VALUES (9, '%e.%u', 'login', 'login*');
SELECT jobstats_reidentify();
\echo :LAST_ERROR_SQLSTATE
SELECT count(f) FROM jobstats_ingest('', 'oss1', at(15), ost('fs-OST0000', record('new.1000', 1, 4096))) f;
DELETE FROM jobstats.entry_formats WHERE priority = 9;
INSERT INTO jobstats.entry_formats (priority, format, node_pattern) VALUES (9, '%u/%H', repeat('*', 256));
SELECT jobstats_reidentify();
DELETE FROM jobstats.entry_formats WHERE priority = 9;
-- Hostile patterns take no time.
INSERT INTO jobstats.entry_formats (priority, format, node_pattern) SELECT n, '%u+%H', repeat('*a', 100) || 'b' FROM generate_series(10, 200) n;
SELECT status FROM jobstats_identify('1+' || repeat('a', 250) || '.a');
DELETE FROM jobstats.entry_formats WHERE priority >= 10;

-- What clients send, by format.
SELECT tried, entry, job, uid, gid, node, executable, pid, status
FROM (VALUES (1, 'u%u.g%g', 'u1000.g100'), (2, '%j@%u@%h', '@0@oss4'), (3, '%j:%u:%h', ':988:ds88'), (4, 'S.%j.%e.%u.%h.E', 'S.17.dd.500.n1.E'),
    (5, '%j.%p', '17.4711'), (6, '205e.%e.%u', '205e.touch.0'), (7, '%j?%H:%e:%u', '17:dd:500'), (8, '%j?%H:%e:%u', 'n1:dd:500'),
    (9, '%j?%e:%u:%H', 'dd:500:n1'), (10, '%.7j:%u:%H', '4686875:1000:n101'), (11, '%.4e.%u', 'long.1000'), (12, '%e:%.4u', 'dd:1234'),
    (13, '%u:%.4H', '1000:n101'), (14, '%j', '17'), (15, '%j', '38[4].pbs1'), (16, '%j', 'any text: 1'), (17, '%j:%u:%H', '4686875.kman.restech.unsw.edu.a'),
    (18, '%e@%u@%h', 'mount.lustre@0@co-es-pm-149.co-'), (19, '%H%%:%x%u%', 'n1:1000'), (20, '%j : %g', '17:100')) AS t (n, tried, entry),
    jobstats_identify(entry, ARRAY[tried])
ORDER BY n;
-- The brackets of an array, as servers escape them.
SELECT count(f) FROM jobstats_ingest('', 'oss1', at(20), ost('fs-OST0001')) f;
SELECT count(f) FROM jobstats_ingest('', 'oss1', at(25), ost('fs-OST0001', record('"38\x5B4\x5D.pbs1"', 1, 4096))) f;
SELECT name, job, status FROM jobstats.entries WHERE name LIKE '38%';
