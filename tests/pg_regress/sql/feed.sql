-- INSERT INTO jobstats.feed: what a server printed becomes increments.
\i store.sql
\set ECHO all

-- The first observation is a baseline, the second has increments.
INSERT INTO jobstats.feed (server, "time", body, duration, shipper) VALUES
    ('oss1', at(0), ost('scratch-OST0000', record('101:1000:r01c01', 10, 40960), record('102:1001:r01c02', 5, 20480)), '0.2 s', 'by hand');
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('oss1', at(2), ost('scratch-OST0000',
        record('101:1000:r01c01', 14, 57344, 1), record('102:1001:r01c02', 5, 20480), record('dd.0', 2, 8192)));
SELECT target, entry, since, until, observed, reset, write, write_bytes, punch, jobstats_internal.detail(detail) AS detail FROM increments;
TABLE observations;
SELECT minute("time"), duration, shipper, bytes, received BETWEEN now() - interval '1 hour' AND clock_timestamp() AS received
FROM jobstats.observations ORDER BY "time";
SELECT name, job, uid, node, executable, format, status, workload, minute(first_seen) AS first_seen
FROM jobstats.entries ORDER BY name COLLATE "C";
SELECT cluster, name, filesystem, kind, index, cleanup_interval FROM jobstats.targets;

-- The raw text is unchanged; the feed itself is empty.
SELECT body = ost('scratch-OST0000', record('101:1000:r01c01', 10, 40960), record('102:1001:r01c02', 5, 20480)) AS same, carried
FROM jobstats.raw_text ORDER BY "time" LIMIT 1;
SELECT count(*) FROM jobstats.feed;

-- The same text again is known; another text of the same time is rejected.
SELECT target, action, increments FROM jobstats_ingest('', 'oss1', at(2), ost('scratch-OST0000',
    record('101:1000:r01c01', 14, 57344, 1), record('102:1001:r01c02', 5, 20480), record('dd.0', 2, 8192)));
SELECT target, action, increments FROM jobstats_ingest('', 'oss1', at(2), ost('scratch-OST0000', record('101:1000:r01c01', 99, 99)));
TABLE rejects;
TRUNCATE jobstats.rejects;
SELECT count(*) FROM observations;

-- Several targets in a text; a target without entries; the cleanup interval; other parameters.
SELECT target, action, entries, active, added, increments FROM jobstats_ingest('', 'oss1', at(4),
    E'obdfilter.scratch-OST0000.job_cleanup_interval=300\nobdfilter.scratch-OST0001.job_cleanup_interval=600\n'
    || ost('scratch-OST0000', record('101:1000:r01c01', 15, 61440, 1), record('102:1001:r01c02', 5, 20480), record('dd.0', 2, 8192))
    || E'obdfilter.scratch-OST0001.job_stats=job_stats:\nobdfilter.scratch-OST0001.brw_stats=\nsnapshot_time: 5\n');
SELECT name, cleanup_interval FROM jobstats.targets ORDER BY name;
SELECT target, action FROM jobstats_ingest('', 'oss1', NULL, E'obdfilter.scratch-OST0001.job_cleanup_interval=900\n');
SELECT name, cleanup_interval FROM jobstats.targets ORDER BY name;
SELECT target, "time", entries FROM observations WHERE target = 'scratch-OST0001';

-- A row that would cross an edge of ten minutes is divided there, and the parts add up: 7 calls and 28672 bytes in ten minutes, six of them
-- before the edge.
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('oss1', at(14), ost('scratch-OST0000',
        record('101:1000:r01c01', 22, 90112, 1), record('102:1001:r01c02', 5, 20480), record('dd.0', 2, 8192)));
SELECT entry, since, until, observed, write, write_bytes FROM increments WHERE observed = 14;

-- Bad lines do not cost other data: usable lines are stored, the rest is in rejects.
SELECT target, action, entries, problems FROM jobstats_ingest('', 'oss1', at(16), ost('scratch-OST0000',
    record('101:1000:r01c01', 23, 94208, 1),
    E'- job_id:          102:1001:r01c02\n  snapshot_time:   1700000000\n  write_bytes:     { samples: x }\n  punch:           { samples:           7, unit:  reqs }\n',
    record('dd.0', 2, 8192)));
TABLE rejects;
SELECT entry, since, until, write, write_bytes, punch FROM increments WHERE observed = 16;
-- The counter that could not be read kept its value, and goes on from where it was last seen.
SELECT regexp_replace(carried, 'last_seen: .*?\n', E'last_seen: …\n') AS carried
FROM jobstats.raw_text WHERE "time" = at(16);
INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', at(18), ost('scratch-OST0000',
    record('101:1000:r01c01', 23, 94208, 1), record('102:1001:r01c02', 6, 24576, 7), record('dd.0', 2, 8192)));
SELECT entry, since, until, write, write_bytes, punch FROM increments WHERE observed = 18;

-- An MDT of Lustre 2.16: entries have a start_time, requests have a time.
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('mds1', at(0), mdt('scratch-MDT0000', life('101:1000:r01c01', at(-5), 10, 400))),
    ('mds1', at(2), mdt('scratch-MDT0000', life('101:1000:r01c01', at(-5), 12, 500), life('cp.1000', at(1), 3, 30, 9)));
SELECT entry, since, until, reset, open, open_usecs, getattr, jobstats_internal.detail(detail) AS detail FROM increments WHERE target = 'scratch-MDT0000';

-- detail has sums of squares that do not follow from calls and their sums: 2² + 98² of two calls, 7² of one.
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('mds1', at(4), mdt('scratch-MDT0001', life('a.1', at(-5), 0, 0), life('b.1', at(-5), 0, 0))),
    ('mds1', at(6), mdt('scratch-MDT0001', regexp_replace(life('a.1', at(-5), 2, 100), 'sumsq: +0', 'sumsq: 9608'),
        replace(life('b.1', at(-5), 1, 7), 'min:        1, max:      100, sum:                7, sumsq:                  0',
            'min:        7, max:        7, sum:                7, sumsq:                 49')));
SELECT entry, jobstats_internal.detail(detail) AS detail,
    coalesce((jobstats_internal.detail(detail)->'open'->>'sumsq')::numeric, mod(div(open_usecs::numeric * open_usecs, open), 18446744073709551616)) AS squares
FROM increments WHERE target = 'scratch-MDT0001' ORDER BY entry;

-- By COPY, with the time left out, compressed, many rows at once.
COPY jobstats.feed (cluster, server, body) FROM stdin;
second	oss2	obdfilter.scratch-OST0000.job_stats=job_stats:\n
second	oss2	obdfilter.scratch-OST0001.job_stats=job_stats:\n
\.
INSERT INTO jobstats.feed (cluster, server, "time", body_zstd)
SELECT 'second', 'oss2', now() + interval '1 minute',
    '\x28b52ffd04587901006f626466696c7465722e736372617463682d4f5354303030302e6a6f625f73746174733d6a6f625f73746174733a0a1db5ff34';
SELECT target, server, entries FROM observations WHERE cluster = 'second';

-- NULL is the cluster without a name, and now.
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES
    (NULL, 'oss2', NULL, E'obdfilter.other-OST0000.job_stats=job_stats:\n');
SELECT t.cluster, o."time" = o.received AS now
FROM jobstats.observations o JOIN jobstats.targets t USING (target_id) WHERE t.filesystem = 'other';

-- The function returns its outcome. Raw text is packed.
SELECT target, action, entries, active, increments
FROM jobstats_ingest('', 'oss1', now(), E'obdfilter.home-OST0000.job_stats=job_stats:\n');
SELECT jobstats_unpack(body) FROM jobstats.raw JOIN jobstats.targets USING (target_id) WHERE name = 'home-OST0000';

-- What fails, fails with a reason and a hint.
INSERT INTO jobstats.feed (server) VALUES ('oss1');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO jobstats.feed (server, body, body_zstd) VALUES ('oss1', 'a', 'b');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO jobstats.feed (server, body_zstd) VALUES ('oss1', 'not zstd');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO jobstats.feed (body) VALUES ('a');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', 'infinity', 'a');
\echo :LAST_ERROR_SQLSTATE
UPDATE jobstats.settings SET max_text = 100;
INSERT INTO jobstats.feed (server, body) VALUES ('oss1', ost('scratch-OST0000', record('101:1000:r01c01', 23, 94208)));
\echo :LAST_ERROR_SQLSTATE
BEGIN ISOLATION LEVEL REPEATABLE READ;
INSERT INTO jobstats.feed (server, body) VALUES ('oss1', 'a');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
INSERT INTO jobstats.feed (server, body) VALUES ('oss1', 'a');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;

UPDATE jobstats.settings SET max_text = 268435456;

-- More rows than are stored at a time, each of them divided.
CREATE FUNCTION many(calls integer) RETURNS text LANGUAGE sql AS $$
SELECT ost('many-OST0000', VARIADIC ARRAY(SELECT record('m.' || n, calls, 4096 * calls) FROM generate_series(1, 2500) AS n))
$$;
SELECT action, active, increments FROM jobstats_ingest('', 'oss3', at(8), many(4));
SELECT action, active, increments FROM jobstats_ingest('', 'oss3', at(12), many(12));
SELECT since, until, count(DISTINCT entry) AS entries, count(*) AS rows, sum(write) AS write, sum(write_bytes) AS write_bytes
FROM increments WHERE target = 'many-OST0000' GROUP BY since, until ORDER BY since;

-- A session that remembers the last text checks whether it is still the stored one.
SELECT action FROM jobstats_ingest('', 'oss3', at(0), ost('hand-OST0000', record('a.1', 10, 40960)));
UPDATE jobstats.raw SET body = zstd(convert_to(ost('hand-OST0000', record('a.1', 4, 16384)), 'UTF8'))
WHERE target_id = (SELECT target_id FROM jobstats.targets WHERE name = 'hand-OST0000');
SELECT action FROM jobstats_ingest('', 'oss3', at(2), ost('hand-OST0000', record('a.1', 11, 45056)));
SELECT since, until, write, write_bytes FROM increments WHERE target = 'hand-OST0000';

-- What waits to be stored is not for others, not even where a table's owner sets a trap in its way.
CREATE FUNCTION trap() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE (SELECT format('SELECT FROM jobstats_internal.staged_increments() AS staged (%s)', string_agg(format('%I text', attname), ', '))
        FROM pg_attribute WHERE attrelid = 'jobstats.increments'::regclass AND attnum > 0 AND NOT attisdropped);
    RETURN NULL;
END
$$;
CREATE TRIGGER trap BEFORE INSERT ON jobstats.increments FOR EACH STATEMENT EXECUTE FUNCTION trap();
SELECT action FROM jobstats_ingest('', 'oss3', at(0), ost('trap-OST0000', record('a.1', 1, 4096)));
SELECT action FROM jobstats_ingest('', 'oss3', at(2), ost('trap-OST0000', record('a.1', 2, 8192)));
\echo :LAST_ERROR_SQLSTATE
