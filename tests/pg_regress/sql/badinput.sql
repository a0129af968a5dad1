-- Bad input does not cost other users' data, and fails only where no row can be stored.
\i store.sql
\set ECHO all

-- A text cut anywhere, between two whole ones: what the entries did adds up to the truth, wherever the cut is. Behind the header it is cut
-- at every third place: of the 217 bytes of an entry, each is the last one in one of three entries.
CREATE TABLE cut AS
SELECT ost('fs-OST0000', record('a.1', 10, 40960, 1), record('b.1', 5, 20480, 2), record('c.1', 8, 32768, 3)) AS before,
    ost('fs-OST0000', record('a.1', 11, 45056, 2), record('b.1', 6, 24576, 3), record('c.1', 9, 36864, 4)) AS body,
    ost('fs-OST0000', record('a.1', 12, 49152, 3), record('b.1', 7, 28672, 4), record('c.1', 10, 40960, 5)) AS after;
CREATE TABLE cuts AS SELECT length FROM cut, generate_series(0, length(body)) AS length WHERE length < 60 OR length % 3 = 0;
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT length, 'oss1', at(minute), text
FROM cut, cuts,
    LATERAL (VALUES (0, before), (2, left(body, length)), (4, after)) AS texts (minute, text)
ORDER BY length, minute;
-- But for cuts between its header and its first entry: so does a target look that was cleared.
CREATE TABLE cleared AS SELECT cluster FROM observations WHERE "time" = 2 AND entries = 0 AND problems = 0;
SELECT quote_literal(left(body, cluster::integer)) AS text FROM cut, cleared ORDER BY cluster;
SELECT entry, writes, bytes, punches, count(*) = (SELECT count(*) - 4 FROM cuts) AS wherever
FROM (
    SELECT cluster, entry, sum(write) AS writes, sum(write_bytes) AS bytes, sum(punch) AS punches
    FROM increments WHERE cluster NOT IN (SELECT cluster FROM cleared) GROUP BY cluster, entry
) AS sums
GROUP BY 1, 2, 3, 4 ORDER BY 1;
-- A cut inside the target's name leaves no usable record.
SELECT count(*) FROM observations WHERE "time" = 2 AND cluster::integer < length('obdfilter.fs-OST0000.job_stats');
SELECT reason, count(*) > 0 AS seen FROM jobstats.rejects GROUP BY reason ORDER BY reason;

-- Empty text, a header, other parameters, an entry without a target, prose.
SELECT * FROM jobstats_ingest('', 'oss1', at(0), '');
SELECT target, action, entries FROM jobstats_ingest('', 'oss1', at(0), E'\n \n');
SELECT target, action, entries FROM jobstats_ingest('', 'oss1', at(0), E'job_stats:\n');
SELECT target, action, entries FROM jobstats_ingest('', 'oss1', at(0), 'job_stats:' || chr(10) || record('a.1', 10, 40960));
SELECT target, action, entries FROM jobstats_ingest('', 'oss1', at(0), E'obdfilter.fs-OST0000.brw_stats=\nsnapshot_time: 5\n');
SELECT target, action, entries FROM jobstats_ingest('', 'oss1', at(0), 'Lustre: hello');
SELECT target, line, reason, text FROM rejects WHERE cluster = '';
TRUNCATE jobstats.rejects;

-- Rejects are the problems that jobstats_parse() shows.
CREATE TABLE damaged AS SELECT ost('fs-OST0000', record('a.1', 10, 40960),
    E'- job_id:          b.1\n  snapshot_time:   then\n  write_bytes:     { samples:          -1, unit: bytes }\n'
    '  punch:           { samples: 18446744073709551616, unit:  reqs }\n  sync:            { samples:           5, unit:  reqs\n',
    E'- job_id:          c.1\n  snapshot_time:   1700000000\n  write_bytes:     { samples:           1, unit: bytes, min: 4k }\n  punch:           { samples:           1, unit:  reqs }\n',
    E'what is this\n', record('d.1', 10, 40960)) AS body;
SELECT i.action, i.entries, i.problems FROM damaged, jobstats_ingest('damaged', 'oss1', at(0), body) i;
SELECT line, reason, text FROM rejects;
SELECT line, reason, text FROM jobstats.rejects
EXCEPT SELECT p.line, p.problem, p.text FROM damaged, jobstats_parse(body) p WHERE p.problem IS NOT NULL;
TRUNCATE jobstats.rejects;

-- At most 100 of a reason, the rest counted.
SELECT action, entries, problems FROM jobstats_ingest('many', 'oss1', at(0),
    ost('fs-OST0000', record('a.1', 1, 4096), repeat(E'what is this\n', 150), record('b.1', 1, 4096), repeat(E'  sync: { samples: x }\n', 3)));
SELECT reason, count(*), max(text) FILTER (WHERE line IS NULL) AS rest FROM jobstats.rejects GROUP BY reason ORDER BY reason;
TRUNCATE jobstats.rejects;

-- A long line is cut at 4 kB, and not inside a character.
SELECT action, entries, problems FROM jobstats_ingest('long', 'oss1', at(0),
    ost('fs-OST0000', repeat('x', 5000) || E'\n', 'x' || repeat('é', 5000) || E'\n'));
SELECT line, reason, octet_length(text) AS bytes, right(text, 1) AS last FROM jobstats.rejects ORDER BY line;
TRUNCATE jobstats.rejects;

-- Identifiers are bytes. Valid UTF-8 stays; NUL and other bytes remain as Lustre writes them.
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES ('names', 'oss1', at(0), E'obdfilter.fs-OST0000.job_stats=job_stats:\n');
INSERT INTO jobstats.feed (cluster, server, "time", body_zstd)
SELECT 'names', 'oss1', at(2), zstd(convert_to(ost('fs-OST0000',
        record('"caf\xC3\xA9.1"', 1, 4096), record('"a\xE9\x00b.1"', 1, 4096), record('"\x22it\x27s\x22\x20\x5C.1"', 1, 4096),
        record('sh -c {x}: #1.1', 1, 4096), record('$$;DROP TABLE jobstats.raw;--.1', 1, 4096), record('', 1, 4096),
        E'- job_id:          raw'), 'UTF8')
    || '\xff00' || convert_to(substring(record('', 1, 4096) FROM length('- job_id:          ') + 1), 'UTF8'));
SELECT name, status, workload FROM jobstats.entries JOIN jobstats.increments USING (entry_id)
WHERE target_id = (SELECT target_id FROM jobstats.targets WHERE cluster = 'names') ORDER BY name COLLATE "C";
SELECT substring(body, 'raw\\.*') AS raw_text
FROM jobstats.raw_text WHERE target_id = (SELECT target_id FROM jobstats.targets WHERE cluster = 'names') AND "time" = at(2);
-- They are found again under the same name.
INSERT INTO jobstats.feed (cluster, server, "time", body_zstd)
SELECT 'names', 'oss1', at(4), zstd(convert_to(ost('fs-OST0000',
        record('"caf\xC3\xA9.1"', 2, 8192), record('"a\xE9\x00b.1"', 2, 8192), record('"\x22it\x27s\x22\x20\x5C.1"', 2, 8192),
        E'- job_id:          raw'), 'UTF8')
    || '\xff00' || convert_to(substring(record('', 2, 8192) FROM length('- job_id:          ') + 1), 'UTF8'));
SELECT entry, write FROM increments WHERE cluster = 'names' AND observed = 4;
SELECT count(*) FROM jobstats.rejects;

-- Too large: as it is, or unpacked. A block of 128 kB that is all blanks is four bytes of zstd.
UPDATE jobstats.settings SET max_text = 1000000;
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('large', 'oss1', ost('fs-OST0000', repeat(' ', 1000000)));
\echo :LAST_ERROR_SQLSTATE
INSERT INTO jobstats.feed (cluster, server, body_zstd)
SELECT 'large', 'oss1', zstd(convert_to(ost('fs-OST0000'), 'UTF8')) || '\x28b52ffd0038' || decode(repeat('02001020', 7) || '03001020', 'hex');
\echo :LAST_ERROR_SQLSTATE
-- Together they may be larger; each target counts for itself.
SELECT action, entries FROM jobstats_ingest('large', 'oss1', at(0),
    ost('fs-OST0000', repeat(record('a.1', 1, 4096) || E'\n', 3000)) || ost('fs-OST0001', repeat(record('a.1', 1, 4096) || E'\n', 3000)));
UPDATE jobstats.settings SET max_text = DEFAULT;
-- Packed text that ends too early, or goes on with something else.
INSERT INTO jobstats.feed (server, body_zstd) SELECT 'oss1', substring(zstd(convert_to(ost('fs-OST0000'), 'UTF8')) FOR 30);
\echo :LAST_ERROR_SQLSTATE
INSERT INTO jobstats.feed (server, body_zstd) SELECT 'oss1', zstd(convert_to(ost('fs-OST0000'), 'UTF8')) || 'abc';
\echo :LAST_ERROR_SQLSTATE
-- Several frames are one text.
SELECT target, action, entries FROM jobstats_ingest('frames', 'oss1', at(0),
    body_zstd => zstd(convert_to(ost('fs-OST0000'), 'UTF8')) || zstd(convert_to(record('a.1', 1, 4096), 'UTF8')));

-- A server whose clock began in 1970: its first texts are too late, and the first text of today is a baseline.
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES
    ('clock', 'oss1', '1970-01-01 00:01+00', ost('fs-OST0000', record('a.1', 1, 4096))),
    ('clock', 'oss1', '1970-01-01 00:03+00', ost('fs-OST0000', record('a.1', 2, 8192))),
    ('clock', 'oss1', at(0), ost('fs-OST0000', record('a.1', 9000, 36864000), record('b.1', 9000, 36864000))),
    ('clock', 'oss1', at(2), ost('fs-OST0000', record('a.1', 9001, 36868096), record('b.1', 9000, 36864000))),
    ('clock', 'oss1', '1970-01-01 00:05+00', ost('fs-OST0000', record('a.1', 3, 12288))),
    ('clock', 'oss1', '4713-01-01 00:00+00 BC', ost('fs-OST0000', record('a.1', 3, 12288))),
    ('clock', 'oss1', '9999-01-01 00:00+00', ost('fs-OST0000', record('a.1', 3, 12288)));
SELECT to_char(o."time", 'YYYY') = '1970' AS in_1970, o.since IS NULL AS baseline, o.active
FROM jobstats.observations o JOIN jobstats.targets t USING (target_id) WHERE t.cluster = 'clock' ORDER BY o."time";
SELECT to_char(i."time", 'YYYY') = '1970' AS in_1970, i.write, i.write_bytes
FROM jobstats.increments i JOIN jobstats.targets t USING (target_id) WHERE t.cluster = 'clock' ORDER BY i."time";
SELECT "time", reason FROM jobstats.rejects WHERE cluster = 'clock' ORDER BY "time";

-- Stored rows match the raw text.
SELECT * FROM jobstats_audit(at(-60), at(120));
