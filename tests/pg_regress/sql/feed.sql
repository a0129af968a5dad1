-- INSERT INTO jobstats.feed: what a server printed becomes increments.
CREATE EXTENSION jobstats;
\getenv source PG_ABS_SRCDIR
\set texts :source '/include/texts.sql'
\i :texts
SELECT jobstats_setup() IS NOT NULL AS ready;
-- All times of this test are in the last hours, at full ten minutes.
SELECT date_trunc('hour', now()) - interval '3 hours' AS t \gset

-- The first observation is a baseline, the second says what happened in between.
INSERT INTO jobstats.feed (server, "time", body, duration, shipper) VALUES
    ('oss1', :'t', ost('scratch-OST0000', record('101:1000:r01c01', 10, 40960), record('102:1001:r01c02', 5, 20480)), '0.2 s', 'by hand');
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('oss1', timestamptz :'t' + interval '2 minutes',
     ost('scratch-OST0000', record('101:1000:r01c01', 14, 57344, 1), record('102:1001:r01c02', 5, 20480), record('dd.0', 2, 8192)));
CREATE VIEW increments AS
SELECT i."time" - :'t' AS until, i.since - :'t' AS since, i.observed - :'t' AS observed, t.name AS target, e.name AS entry,
    i.reset, i.write, i.write_bytes, i.punch, i.open, i.open_usecs, i.detail
FROM jobstats.increments i JOIN jobstats.targets t USING (target_id) JOIN jobstats.entries e USING (entry_id)
ORDER BY i."time", t.name, e.name COLLATE "C", i.since;
TABLE increments;
SELECT "time" - :'t' AS "time", since - :'t' AS since, server, duration, shipper, entries, active, added, resets, removed,
    carried, unknown, problems, bytes FROM jobstats.observations ORDER BY 1;
SELECT name, job, uid, node, executable, format, status, workload FROM jobstats.entries ORDER BY name COLLATE "C";
SELECT cluster, name, filesystem, kind, index, cleanup_interval FROM jobstats.targets;

-- The raw text is there as it came.
SELECT body = ost('scratch-OST0000', record('101:1000:r01c01', 10, 40960), record('102:1001:r01c02', 5, 20480)) AS same, carried
FROM jobstats.raw_text ORDER BY "time" LIMIT 1;

-- The same text again does nothing; another text of the same time is rejected.
SELECT target, action, increments FROM jobstats_ingest('', 'oss1', timestamptz :'t' + interval '2 minutes',
    ost('scratch-OST0000', record('101:1000:r01c01', 14, 57344, 1), record('102:1001:r01c02', 5, 20480), record('dd.0', 2, 8192)));
SELECT target, action, increments FROM jobstats_ingest('', 'oss1', timestamptz :'t' + interval '2 minutes',
    ost('scratch-OST0000', record('101:1000:r01c01', 99, 99)));
SELECT cluster, server, target, line, reason, left(text, 37) AS text FROM jobstats.rejects;
TRUNCATE jobstats.rejects;

-- Several targets in a text; a target without entries; the cleanup interval; other parameters.
SELECT target, action, entries, active, added, increments FROM jobstats_ingest('', 'oss1', timestamptz :'t' + interval '4 minutes',
    E'obdfilter.scratch-OST0000.job_cleanup_interval=300\nobdfilter.scratch-OST0001.job_cleanup_interval=600\n'
    || ost('scratch-OST0000', record('101:1000:r01c01', 15, 61440, 1), record('102:1001:r01c02', 5, 20480), record('dd.0', 2, 8192))
    || E'obdfilter.scratch-OST0001.job_stats=job_stats:\nobdfilter.scratch-OST0001.brw_stats=\nsnapshot_time: 5\n');
SELECT name, cleanup_interval FROM jobstats.targets ORDER BY name;
SELECT target, action FROM jobstats_ingest('', 'oss1', NULL, E'obdfilter.scratch-OST0001.job_cleanup_interval=900\n');
SELECT name, cleanup_interval FROM jobstats.targets ORDER BY name;

-- A row that would cross an edge of ten minutes is divided there, and the parts add up.
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('oss1', timestamptz :'t' + interval '14 minutes', ost('scratch-OST0000', record('101:1000:r01c01', 22, 90112, 1), record('102:1001:r01c02', 5, 20480), record('dd.0', 2, 8192)));
SELECT until, since, observed, entry, write, write_bytes FROM increments WHERE observed = '14 minutes';
SELECT sum(write) = 22 - 15 AS calls, sum(write_bytes) = 90112 - 61440 AS bytes FROM increments WHERE observed = '14 minutes';

-- By COPY, compressed, many rows at once, with the time left out.
COPY jobstats.feed (server, "time", body) FROM stdin;
oss2	infinity	text
\.
COPY jobstats.feed (cluster, server, body) FROM stdin;
second	oss2	obdfilter.scratch-OST0000.job_stats=job_stats:\n
\.
INSERT INTO jobstats.feed (cluster, server, "time", body_zstd) VALUES
    ('second', 'oss2', now() + interval '1 minute', '\x28b52ffd04587901006f626466696c7465722e736372617463682d4f5354303030302e6a6f625f73746174733d6a6f625f73746174733a0a1db5ff34');
SELECT t.cluster, o.server, o.entries, o.bytes FROM jobstats.observations o JOIN jobstats.targets t USING (target_id)
WHERE t.cluster = 'second' ORDER BY o."time";

-- A text that names no target, an empty text.
SELECT * FROM jobstats_ingest('', 'oss1', NULL, 'job_stats:' || chr(10) || record('101:1000:r01c01', 10, 40960));
SELECT * FROM jobstats_ingest('', 'oss1', NULL, '');
SELECT server, target, line, reason, left(text, 10) AS text FROM jobstats.rejects;
TRUNCATE jobstats.rejects;

-- Bad rows cost nobody else's data: what can be used is stored, the rest is in rejects.
SELECT target, action, entries, problems FROM jobstats_ingest('', 'oss1', timestamptz :'t' + interval '16 minutes',
    ost('scratch-OST0000', record('101:1000:r01c01', 23, 94208, 1), E'- job_id:          102:1001:r01c02\n  snapshot_time:   1700000000\n  write_bytes:     { samples: x }\n  punch:           { samples:           7, unit:  reqs }\n', record('dd.0', 2, 8192)));
SELECT target, line, reason, text FROM jobstats.rejects;
SELECT entry, write, write_bytes, punch FROM increments WHERE observed = '16 minutes';
-- The counter that was missing kept its value.
SELECT carried FROM jobstats.raw_text ORDER BY "time" DESC OFFSET 1 LIMIT 1;
INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', timestamptz :'t' + interval '18 minutes',
    ost('scratch-OST0000', record('101:1000:r01c01', 23, 94208, 1), record('102:1001:r01c02', 6, 24576, 7), record('dd.0', 2, 8192)));
SELECT until, since, entry, write, write_bytes, punch FROM increments WHERE observed = '18 minutes';

-- What fails, fails with a reason and a hint.
\set VERBOSITY verbose
INSERT INTO jobstats.feed (server) VALUES ('oss1');
INSERT INTO jobstats.feed (server, body, body_zstd) VALUES ('oss1', 'a', 'b');
INSERT INTO jobstats.feed (server, body_zstd) VALUES ('oss1', 'not zstd');
INSERT INTO jobstats.feed (body) VALUES ('a');
UPDATE jobstats.settings SET max_text = 100;
INSERT INTO jobstats.feed (server, body) VALUES ('oss1', ost('scratch-OST0000', record('101:1000:r01c01', 23, 94208)));
BEGIN ISOLATION LEVEL SERIALIZABLE;
INSERT INTO jobstats.feed (server, body) VALUES ('oss1', 'a');
ROLLBACK;
