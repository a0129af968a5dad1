-- A store with something in it, and a role with each grant.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE EXTENSION jobstats;
SELECT current_database() AS database \gset
CREATE ROLE fuzz_owner LOGIN;
CREATE ROLE fuzz_writer LOGIN;
CREATE ROLE fuzz_bound LOGIN;
CREATE ROLE fuzz_reader LOGIN;
CREATE ROLE fuzz_nobody LOGIN;
ALTER DATABASE :"database" OWNER TO fuzz_owner;
SET SESSION AUTHORIZATION fuzz_owner;
DO $$ BEGIN PERFORM jobstats_setup(); END $$;
SELECT jobstats_grant_writer('fuzz_writer'), jobstats_grant_writer('fuzz_bound', 'c1'), jobstats_grant_reader('fuzz_reader') \gset
RESET SESSION AUTHORIZATION;

-- The calls are made by a superuser, who alone sees this.
CREATE SCHEMA fuzz;
CREATE TABLE fuzz.texts (body text);
INSERT INTO fuzz.texts VALUES
    (E'mdt.fs-MDT0000.job_stats=\njob_stats:\n- job_id:          4711:1000:n1\n  snapshot_time:   1700000000\n  open:            { samples:         12, unit:  reqs }\n  close:           { samples:         11, unit:  reqs }\n'),
    (E'obdfilter.fs-OST0000.job_stats=\njob_stats:\n- job_id:          "dd.0"\n  snapshot_time:   1700000000.123456789 secs.nsecs\n  start_time:      1699999000.000000001 secs.nsecs\n  elapsed_time:    1000.123456788 secs.nsecs\n  read_bytes:      { samples:          3, unit: bytes, min:     4096, max:  1048576, sum:          2101248, sumsq:       2199040032768, hist: { 4K: 1, 1M: 2 } }\n  write:           { samples:          3, unit: usecs, min:       10, max:      300, sum:              500, sumsq:             100000 }\n'),
    (E'obdfilter.fs-OST0001.job_cleanup_interval=600\nobdfilter.fs-OST0001.job_stats=job_stats:\n'),
    (E'health_check=NOT HEALTHY\nost.OSS.ost_io.stats=\nsnapshot_time 1700000000.1 secs.usecs\nreq_waittime 7 samples [usec] 1 9 70 490\nreq_qdepth 7 samples [reqs] 0 1 3 3\nosd-zfs.fs-OST0000.kbytesavail=5\nobdfilter.fs-OST0000.recovery_status=\nstatus: RECOVERING\ntime_remaining: 9\nmdd.fs-MDT0000.changelog_users=\ncurrent_index: 9\nID index (idle) mask\ncl1 7 (3)\nosd-zfs.fs-OST0000.quota_slave.acct_user=\nusr_accounting:\n- id:      1000\n  usage:   { inodes: 3, kbytes: 17 }\n'),
    (E'root:x:0:0:root:/root:/bin/bash\nada:*:1000:100:Ada, room 13:43:/home/ada:/bin/sh\n+::::::\n');

-- Pieces of all kinds, by type: ordinary values, extremes and nonsense.
CREATE TABLE fuzz.pieces (type regtype, piece text);
INSERT INTO fuzz.pieces
SELECT t.type::regtype, p.piece
FROM (VALUES
    ('text', ARRAY['', 'x', 'fs-OST0000', 'fs-*', '*', '\', 'a\', 'uid', 'write_bytes', 'service_time', 'metadata', 'weighted', 'OST', 'c1',
        '4711', 'dd.0', 'oss1', '%j:%u:%H', '%e.%u', '%%%', '%', E'\n', 'ä€😀', '4711:1000:n1', '10m', '1d', 'none', 'infinity', '-1', '{', 'increments']),
    ('text[]', ARRAY['{}', '{NULL}', '{uid}', '{uid,workload}', '{target}', '{uid,uid}', '{*}', '{"\\"}', '{"a\\\\"}', '{write_bytes,read_bytes}',
        '{metadata}', '{x}', '{{a,b},{c,d}}', '{ok}', '{user}', '{passwd}', '{lctl,passwd,group}', '{%j:%u:%H}', '{"\\*"}']),
    ('bigint[]', ARRAY['{}', '{NULL}', '{1000}', '{-1,0,9223372036854775807}', '{{1,2}}']),
    ('timestamp with time zone', ARRAY['infinity', '-infinity', 'epoch', '4713-01-01 00:00+00 BC', '294276-12-31 23:59:59+00', '1970-01-02', 'now', 'yesterday', 'tomorrow', '2000-01-01']),
    ('interval', ARRAY['0', '1 second', '-1 day', '1 microsecond', '8 ms', '10 minutes', '1 hour', '1 day', '1 month', '100 years', '178000000 years', '-178000000 years', '90 days', '1 mon -30 days']),
    ('integer', ARRAY['0', '1', '-1', '2', '10', '100', '101', '2147483647', '-2147483648']),
    ('bigint', ARRAY['0', '1', '-1', '9223372036854775807', '-9223372036854775808', '4294967296']),
    ('numeric', ARRAY['0', '1', '-1', 'NaN', '1e400', '1e-400', '0.5']),
    ('double precision', ARRAY['0', '-0', '1', '-1', 'NaN', 'Infinity', '-Infinity', '1e308', '5e-324', '0.1']),
    ('boolean', ARRAY['true', 'false']),
    ('name', ARRAY['fuzz_reader', 'fuzz_nobody', 'nobody at all', '', 'public']),
    ('jsonb', ARRAY['{}', '[]', 'null', '1', '"x"', '{"write": 1}', '{"write": 1e400}', '{"write": -1}', '{"x": 1}', '{"write": [[[1]]]}', '{"write": null}', '{"write": "1"}', '{"a": 1e400}',
        repeat('[', 200) || repeat(']', 200), '{"write": 1e-400, "read": 0}']),
    ('jobstats_filter', ARRAY['', 'uid=1000', 'user=ada job=4711,dd* target=fs-OST*', 'account=', 'job="a b","""q"""" exclude=1', 'kind=ost level=x', 'job=4711.batch target=OST0000', 'job=\*',
        '{"job": ["a*", null, 7], "uid": 1e400}', '{"others": 3}', '{"job": {"a": [', 'project=7']),
    ('bytea', ARRAY['', '\x00', '\x28b52ffd', '\x28b52ffd0458010000780a62c3d4', '\x184d2a5000000000', '\xffffffffffff', '\x28b52ffda0ffffff7f']),
    ('jobstats_counter', ARRAY['', 'x', 'counter 1', '{}']),
    ('jobstats_density', ARRAY['', 'x', 'density 1', '{}']),
    ('regclass', ARRAY['pg_class']),
    ('xid8', ARRAY['0', '1', '18446744073709551615']),
    ('tstzrange', ARRAY['empty', '(,)', '[now,)', '[yesterday,now)', '[-infinity,infinity]', '[4713-01-01 00:00+00 BC,294276-12-31 23:59:59+00]'])
) AS t (type, pieces)
CROSS JOIN LATERAL unnest(t.pieces) AS p (piece);
INSERT INTO fuzz.pieces SELECT 'text', body FROM fuzz.texts;

-- A value of a type as an expression; texts of job_stats are damaged here and there.
CREATE FUNCTION fuzz.value(type regtype) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    piece text := (SELECT p.piece FROM fuzz.pieces p WHERE p.type = value.type ORDER BY random() LIMIT 1);
    dice double precision := random();
    place integer;
BEGIN
    IF dice < 0.15 OR piece IS NULL THEN
        RETURN format('NULL::%s', type);
    ELSIF type = 'timestamptz'::regtype AND dice < 0.6 THEN
        RETURN format('now() + interval %L', round(((random() - 0.8) * 100000)::numeric, 3) || ' seconds');
    ELSIF type IN ('text'::regtype, 'jobstats_filter'::regtype) AND dice < 0.5 THEN
        IF type = 'text'::regtype THEN
            piece := (SELECT string_agg(t.body, CASE WHEN random() < 0.3 THEN 'x' ELSE '' END)
                FROM (SELECT body FROM fuzz.texts, generate_series(1, 1 + floor(random() * 20)::integer) ORDER BY random() LIMIT 1 + floor(random() * 20)::integer) t);
        END IF;
        FOR i IN 1 .. floor(random() * 6)::integer LOOP
            place := 1 + floor(random() * length(piece))::integer;
            piece := overlay(piece PLACING (ARRAY['', E'\n', ' ', '{', '}', ':', '-', '9999999999999999999999', E'\t', '=', '"', repeat('x', 5000)])[1 + floor(random() * 12)::integer]
                FROM place FOR floor(random() * 20)::integer);
        END LOOP;
    ELSIF type = 'text'::regtype AND dice < 0.53 THEN
        piece := repeat(coalesce(nullif(piece, ''), 'x'), 1 + floor(random() * 1000)::integer);
    END IF;
    RETURN format('%L::%s', piece, type);
END
$$;

-- A random call of a function that anybody but maintenance calls, or an INSERT into the feed.
CREATE FUNCTION fuzz.call() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    it record;
    given integer;
BEGIN
    IF random() < 0.15 THEN
        RETURN format('INSERT INTO jobstats.feed (cluster, server, "time", body, body_zstd, duration, source, covers) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)',
            fuzz.value('text'), fuzz.value('text'), fuzz.value('timestamptz'), fuzz.value('text'),
            CASE WHEN random() < 0.8 THEN 'NULL' ELSE fuzz.value('bytea') END, fuzz.value('interval'),
            (SELECT s FROM unnest(ARRAY['NULL', '''lctl''', '''passwd''', '''group''', '''openmetrics''', '''slurm''', '''pbs''', '''lsf''',
                '''gridengine''', '''flux''', fuzz.value('text')]) s ORDER BY random() LIMIT 1),
            CASE WHEN random() < 0.8 THEN 'NULL' ELSE fuzz.value('tstzrange') END);
    END IF;
    SELECT p.oid, p.prokind, p.proname, p.pronargs, p.pronargdefaults, (p.proargtypes::oid[])::regtype[] AS types,
        p.pronamespace::regnamespace AS schema
    INTO it
    FROM pg_proc p
    JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
    JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'jobstats'
    WHERE NOT p.proargtypes::oid[] && ARRAY['internal'::regtype::oid, 'cstring'::regtype::oid]
        -- Internal functions that are the owner's alone make partitions for any time: attack_nonsense calls those.
        AND (p.pronamespace <> 'jobstats_internal'::regnamespace OR has_function_privilege('fuzz_nobody', p.oid, 'EXECUTE'))
    ORDER BY random() LIMIT 1;
    given := it.pronargs - floor(random() * (it.pronargdefaults + 1))::integer;
    RETURN format(CASE WHEN it.prokind = 'p' THEN 'CALL %s.%I(%s)' WHEN it.prokind = 'a' THEN 'SELECT %s.%I(%s) FROM generate_series(1, 20)'
            WHEN it.proname = 'staged_increments' THEN 'SELECT * FROM %s.%I(%s) AS staged (a integer)'
            ELSE 'SELECT count(*) FROM %s.%I(%s)' END, it.schema, it.proname,
        (SELECT string_agg(fuzz.value(it.types[i - 1]), ', ' ORDER BY i) FROM generate_series(1, given) i));
END
$$;
