-- No text takes the server down, nor holds a session up: what functions on text and feeds do with the worst of them.
\i store.sql
\set ECHO all
SET client_min_messages = warning;

-- Data of zstd (RFC 8878): a block with this text, then blocks of 128 kB that repeat one byte, 4 bytes each.
CREATE FUNCTION little_endian(number integer) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
SELECT set_byte(set_byte(set_byte('\x000000', 0, number & 255), 1, number >> 8 & 255), 2, number >> 16)
$$;
CREATE FUNCTION bomb(head text, byte bytea, blocks integer) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
SELECT '\x28b52ffd0038' || little_endian(octet_length(head) << 3) || convert_to(head, 'UTF8')
    || decode(repeat(encode(little_endian(131072 << 3 | 2) || byte, 'hex'), blocks - 1), 'hex')
    || little_endian(131072 << 3 | 3) || byte
$$;
SELECT length(jobstats_unpack(bomb('job_stats:', 'a', 100))) AS unpacked;
\set head 'mdt.fs-MDT0000.job_stats=\njob_stats:\n- job_id: a.1\n  open: { samples: 1, unit: reqs }\n'

-- 8 kB that would be 256 MB, and 31 kB that would be 1 GB and, shown, 4 GB.
SELECT jobstats_unpack(bomb('', '\x0a', 2000));
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_unpack(bomb('', '\xff', 8000));
SELECT length(jobstats_unpack(bomb('', '\xff', 100))) AS unpacked, right(jobstats_unpack(bomb('', '\xff', 1)), 8) AS "end";
INSERT INTO jobstats.feed (server, body_zstd) VALUES ('mds1', bomb(E:'head', '\x0a', 2000));
\echo :LAST_ERROR_SQLSTATE
-- Nor is it stored where it comes unpacked: it could not be unpacked again.
INSERT INTO jobstats.feed (server, body) VALUES ('mds1', E:'head' || repeat(E'\n', 17000000));
\echo :LAST_ERROR_SQLSTATE
SELECT count(*) AS observations FROM jobstats.observations;
-- 21 kB that would be 26 MB: an audit would read all of them again.
INSERT INTO jobstats.feed (server, body_zstd) VALUES ('mds1', bomb(E:'head' || repeat('#', 20000), '\x0a', 200));
-- So much may be repeated.
INSERT INTO jobstats.feed (server, "time", body_zstd) VALUES ('mds1', now() - interval '1 minute', bomb(E:'head', '\x0a', 100));
SELECT action, entries, problems FROM jobstats_ingest('', 'mds1', now(), E:'head');

-- Rows are as many as lines, and take no more memory than a few of them.
CREATE FUNCTION peak() RETURNS bigint LANGUAGE sql AS $$
SELECT (regexp_match(pg_read_file('/proc/self/status'), 'VmHWM:\s+(\d+)'))[1]::bigint
$$;
CREATE TABLE junk AS SELECT repeat(E'x\n', 4000000) AS body;
SELECT length(body) FROM junk;
SELECT peak() AS before \gset
SELECT count(*), min(p.line), max(p.line), min(p.problem) FROM junk, jobstats_parse(body) p;
SELECT count(*), max(p.line) FROM junk, jobstats_parse(E:'head' || repeat(E'  open: { samples: 1, unit: reqs }\n', 100000)) p;
SELECT peak() - :before < 64 * 1024 AS is_bounded;

-- Of a line without end the beginning is shown, and what follows it is read.
SELECT line, target, entry, operation, problem, length(text) FROM jobstats_parse(E:'head' || repeat('x', 2000000) || E'\n' || E:'head');

-- A text without usable lines is rejected, so that neither the next one nor an audit reads it again.
SELECT action, problems FROM jobstats_ingest('', 'mds1', now() + interval '1 second', E:'head' || repeat(E'x\n', 200000));
SELECT target, line, reason, length(text) FROM jobstats.rejects WHERE reason = 'too many problems' ORDER BY line;
SELECT count(*) AS observations, max(problems) AS problems FROM jobstats.observations;
SELECT count(*) FROM jobstats_audit(now() - interval '1 hour', now() + interval '1 minute');

-- An identifier is as long as Lustre's, and formats are as many as a site may have.
SELECT jobstats_identify(repeat('x', 256));
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM jobstats_identify('4711:1000:n1', ARRAY(SELECT '%e.%g.' || n FROM generate_series(1, 99) n) || '{%j:%u:%H}');
SELECT jobstats_identify('4711:1000:n1', ARRAY(SELECT '%e.%g.' || n FROM generate_series(1, 20000) n));
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_identify('a', ARRAY[repeat('%', 1000000)]);
\echo :LAST_ERROR_SQLSTATE

-- Names and lists of them are no texts.
SELECT count(*) FROM jobstats_top(filter => jsonb_build_object('job', ARRAY[repeat('x', 2000000)]));
\echo :LAST_ERROR_SQLSTATE
SELECT count(*) FROM jobstats_rates(filter => jsonb_build_object('uid', ARRAY(SELECT generate_series(1, 200000))));
SELECT count(*) FROM jobstats_job_usage(repeat('x', 2000000));
SELECT count(*) FROM jobstats_top(operation => repeat('x', 2000000));
INSERT INTO jobstats.feed (cluster, server, body) VALUES (repeat('c', 2000000), 'mds1', '');
SELECT jobstats_internal.ids_remedy(array_fill('a'::text, ARRAY[2000000]));

-- All that can be cancelled.
SET statement_timeout = '300ms';
SELECT count(*) FROM jobstats_parse(repeat(E'x\n', 50000000));
SELECT count(*) FROM jobstats_parse(repeat(E'- job_id: a\n', 8000000));
INSERT INTO jobstats.feed (server, body) SELECT 'mds1', E:'head' || repeat(E'  a: 1\n', 30000000);
RESET statement_timeout;

-- Whoever may neither read nor feed cannot call them.
CREATE ROLE regress_text_reader;
CREATE ROLE regress_text_writer;
CREATE ROLE regress_text_nobody;
SELECT jobstats_grant_reader('regress_text_reader'), jobstats_grant_writer('regress_text_writer') \gset
SELECT r.rolname, f.routine, has_function_privilege(r.rolname, f.routine, 'EXECUTE') AS may
FROM pg_roles r,
    unnest('{jobstats_parse(text),jobstats_unpack(bytea),"jobstats_identify(text,text[])"}'::regprocedure[]) AS f (routine)
WHERE r.rolname LIKE 'regress\_text\_%'
ORDER BY r.rolname, f.routine::text;
SET ROLE regress_text_nobody;
SELECT jobstats_parse('x');
\echo :LAST_ERROR_SQLSTATE
RESET ROLE;
-- Who may read gets them from setup, too.
CREATE ROLE regress_text_other;
GRANT SELECT ON jobstats.raw TO regress_text_other;
SELECT jobstats_setup() IS NOT NULL AS ready;
SELECT has_function_privilege('regress_text_other', 'jobstats_unpack(bytea)', 'EXECUTE') AS may;

DROP OWNED BY regress_text_reader, regress_text_writer, regress_text_other;
DROP ROLE regress_text_reader, regress_text_writer, regress_text_other, regress_text_nobody;
