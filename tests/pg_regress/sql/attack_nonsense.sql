-- No call of a function ends with an internal error (XX000) or with an error that it does not document: every function is
-- called with NULL, extremes and nonsense in each of its arguments, the others being sane.
\i texts.sql
\set ECHO all
SET client_min_messages = error;
CREATE EXTENSION jobstats;
SELECT jobstats_setup() IS NOT NULL AS ready;
CREATE ROLE regress_nonsense;
CREATE FUNCTION text_of(samples bigint) RETURNS text LANGUAGE sql RETURN format(
    E'obdfilter.fs-OST0000.job_stats=\njob_stats:\n- job_id: 1:1000:n1\n  snapshot_time: 1\n  open: { samples: %s, unit: reqs }\n', samples);
INSERT INTO jobstats.feed (server, "time", body) SELECT 'oss1', now() - n * interval '1 minute', text_of(10 - n)
FROM generate_series(5, 1, -1) n;

-- Sane arguments by name or else by type, and the values that are tried in their place; all of them are expressions.
CREATE TABLE sane (name text, type regtype, value text);
INSERT INTO sane VALUES
    ('level', 'text', $$'10m'$$), ('relation', 'text', $$'raw'$$), ('unit', 'text', $$'day'$$), ('key', 'text', $$'time'$$),
    ('role', 'name', $$'regress_nonsense'$$), ('work', 'text', $$'maintain'$$), ('state', 'text', $$'{}'$$), ('state', 'jsonb', $$'{}'$$),
    ('what', 'text', $$'cluster'$$),
    ('body', 'text', 'text_of(10)'), ('since', 'timestamptz', $$now() - interval '10 minutes'$$), ('span_from', 'timestamptz', $$now() - interval '1 hour'$$),
    ('horizon', 'timestamptz', $$now() - interval '90 days'$$), ('weights', 'jsonb', $$'{"open": 1}'$$), ('operation', 'text', $$'open'$$),
    ('operations', 'text', $$'open'$$), ('by', 'text', $$'target'$$), ('levels', 'text', $$'bad'$$), ('server', 'text', $$'oss1'$$), ('source', 'text', $$'lctl'$$), ('n', 'integer', '10'), ('base', 'integer', '10'),
    ('formats', 'text[]', $$'{%j:%u:%H}'$$), ('body_zstd', 'bytea', 'NULL'), ('level', 'integer', '1'), ('definition', 'text', $$'CREATE VIEW jobstats.raw_text AS SELECT 1'$$);
INSERT INTO sane SELECT NULL, type, value FROM (VALUES
    ('text'::regtype, $$'1'$$), ('text[]', 'NULL'), ('bigint[]', 'NULL'), ('timestamptz', 'now()'), ('interval', $$interval '1 hour'$$), ('integer', '1'), ('bigint', '1'),
    ('numeric', '1'), ('double precision', '1'), ('boolean', 'false'), ('name', $$'x'$$), ('jsonb', $$'{}'$$), ('json', $$'{}'$$), ('bytea', $$'\x00'$$), ('jobstats_filter', $$''$$),
    ('jobstats_counter', $$(SELECT jobstats_counter_agg(now(), 1))$$), ('jobstats_density', $$(SELECT jobstats_density_agg(1))$$),
    ('regclass', $$'jobstats.raw'$$), ('oid', $$'jobstats.raw'::regclass$$), ('xid8', $$'1'$$), ('tid[]', $$'{}'$$), ('tstzrange', $$'[now,)'$$), ('timestamptz[]', $$ARRAY[now() - interval '1 hour', now()]$$), ('integer[]', $$'{1,2}'$$)
) AS v (type, value);
CREATE TABLE nonsense (type regtype, value text, number bigint);
INSERT INTO nonsense
SELECT n.type, v.value, v.number
FROM (VALUES
    ('text'::regtype, ARRAY[$$''$$, $$'\'$$, $$'*\'$$, $$E'\n'$$, $$'*'$$, $$'"'$$, $$'infinity'$$, $$repeat('x', 100000)$$, $$repeat('\', 99999)$$, $$repeat(E'x\n', 50000)$$,
        $$'uid,uid'$$, $$'{uid,uid}'$$, $$'{}'$$, $$'{NULL}'$$, $$'{""}'$$, $$'{{a,b},{c,d}}'$$]),
    ('text[]', ARRAY[$$'{}'$$, $$'{NULL}'$$, $$'{""}'$$, $$'{"\\"}'$$, $$'{"x\\"}'$$, $$'{{a,b},{c,d}}'$$, $$'{uid,uid}'$$, $$ARRAY[repeat('x', 100000)]$$,
        $$array_fill(text '*', ARRAY[1000])$$]),
    ('bigint[]', ARRAY[$$'{}'$$, $$'{NULL}'$$, $$'{{1,2}}'$$, $$'{-9223372036854775808,9223372036854775807}'$$]),
    ('timestamptz', ARRAY[$$'infinity'$$, $$'-infinity'$$, $$'4713-01-01 00:00+00 BC'$$, $$'294276-12-31 23:59:59+00'$$]),
    ('timestamptz[]', ARRAY[$$'{}'$$, $$'{NULL}'$$, $$'{infinity}'$$, $$'{{now,now}}'$$]),
    ('integer[]', ARRAY[$$'{}'$$, $$'{NULL}'$$, $$'{{1,2}}'$$, $$'{-2147483648,2147483647}'$$]),
    ('interval', ARRAY[$$'0'$$, $$'-1 day'$$, $$'1 microsecond'$$, $$'178000000 years'$$, $$'-178000000 years'$$, $$'1 mon -30 days'$$, $$'2562047788 hours'$$]),
    ('integer', ARRAY['0', '-1', '2147483647', '-2147483648']),
    ('bigint', ARRAY['0', '-1', '9223372036854775807', '-9223372036854775808']),
    ('numeric', ARRAY['0', '-1', $$'NaN'$$, $$'Infinity'$$, $$'1e400'$$, $$'1e-400'$$]),
    ('double precision', ARRAY[$$'NaN'$$, $$'Infinity'$$, $$'-Infinity'$$, $$'1e308'$$, $$'5e-324'$$, $$'-0'$$]),
    ('boolean', ARRAY['true']),
    ('name', ARRAY[$$''$$, $$'nobody at all'$$, $$repeat('x', 100000)::name$$]),
    ('jsonb', ARRAY[$$'{}'$$, $$'[]'$$, $$'null'$$, $$'1'$$, $$'"x"'$$, $$'{"open": 1e400}'$$, $$'{"open": -1e-400}'$$, $$'{"open": [[1]]}'$$, $$'{"open": null}'$$,
        $$'{"open": "1"}'$$, $$'{"x": 1}'$$, $$'{"a": 1e400}'$$, $$(repeat('[', 200) || repeat(']', 200))::jsonb$$,
        $$('{"open": ' || repeat('[', 200) || repeat(']', 200) || '}')::jsonb$$, $$jsonb_build_object(repeat('x', 100000), 1)$$,
        $$(SELECT jsonb_object_agg(i, i) FROM generate_series(1, 1000) i)$$, $$'{"queue": 1}'$$, $$'{"queue": [{"do": "x"}]}'$$, $$'{"level": "x"}'$$]),
    ('json', ARRAY[$$'[]'$$, $$'null'$$, $$'{"uid": 1e400}'$$, $$(repeat('[', 200) || repeat(']', 200))::json$$]),
    ('jobstats_filter', ARRAY[$$'x'$$, $$'='$$, $$'"'$$, $$'job="'$$, $$'job=1 job=1'$$, $$'job=%'$$, $$'job=\'$$, $$'*=*'$$, $$'job=,'$$, $$'uid=-9223372036854775808,9223372036854775808'$$,
        $$'{'$$, $$'[]'$$, $$'null'$$, $$'{"job": {}}'$$, $$'{"job": true}'$$, $$'{"job": [[1]]}'$$, $$'{"job": []}'$$, $$'{"job": [null]}'$$, $$'{"uid": 1e400}'$$, $$'{"x": 1}'$$,
        $$'{"others": 1}'$$, $$repeat('x', 100000)$$, $$'job=' || repeat('x', 100000)$$, $$'job="' || repeat(E'x\n', 50000) || '"'$$, $$repeat('[', 200) || repeat(']', 200)$$,
        $$'{"job": ' || repeat('[', 200) || repeat(']', 200) || '}'$$, $$'job=' || repeat('*,', 1000)$$, $$'job=' || repeat('*x', 1000)$$]),
    ('bytea', ARRAY[$$''$$, $$'\x28b52ffd'$$, $$'\x28b52ffda0ffffff7f'$$, $$'\x184d2a5000000000'$$]),
    ('regclass', ARRAY['0', $$'pg_class'$$]),
    ('oid', ARRAY['0', '4294967295']),
    ('tid[]', ARRAY[$$'{}'$$, $$'{NULL}'$$, $$'{"(0,1)","(4294967295,65535)"}'$$]),
    ('xid8', ARRAY[$$'0'$$, $$'18446744073709551615'$$]),
    ('tstzrange', ARRAY[$$'empty'$$, $$'(,)'$$, $$'[-infinity,infinity]'$$, $$'[4713-01-01 00:00+00 BC,294276-12-31 23:59:59+00]'$$])
) AS n (type, tried), unnest(n.tried) WITH ORDINALITY AS v (value, number);
INSERT INTO nonsense SELECT DISTINCT type, 'NULL', 0 FROM sane;

-- Left out are functions that PostgreSQL calls: of types and aggregates (internal, cstring), of triggers and events.
CREATE VIEW functions AS
SELECT p.oid, p.prokind, p.pronargs, format('%I.%I', n.nspname, p.proname) AS name, n.nspname <> 'jobstats_internal' AS is_public,
    coalesce(obj_description(p.oid, 'pg_proc'), '') AS own, p.proretset AND p.prorettype = 'record'::regtype AND p.proallargtypes IS NULL AS is_record
FROM pg_proc p
JOIN pg_namespace n ON n.oid = p.pronamespace
JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'jobstats'
WHERE NOT p.proargtypes::oid[] && ARRAY['internal'::regtype::oid, 'cstring'::regtype::oid]
    AND p.prorettype NOT IN ('internal'::regtype, 'cstring'::regtype, 'trigger'::regtype, 'event_trigger'::regtype);
-- The errors of a function can be documented with another function, or with its variant that takes text instead of a number.
CREATE VIEW descriptions AS
SELECT f.name, string_agg(o.own, ' ') AS described
FROM functions f JOIN functions o ON o.name IN (f.name, 'public.' || substring(f.own FROM 'Errors:.*\mas (jobstats_\w+)\(\)'))
GROUP BY f.name;
CREATE VIEW arguments AS
SELECT f.oid, i.position, a.name, p.proargtypes[i.position - 1]::regtype AS type,
    coalesce((SELECT s.value FROM sane s WHERE s.name = a.name AND s.type = p.proargtypes[i.position - 1]),
        (SELECT s.value FROM sane s WHERE s.name IS NULL AND s.type = p.proargtypes[i.position - 1])) AS sane
FROM functions f
JOIN pg_proc p ON p.oid = f.oid
CROSS JOIN LATERAL generate_series(1, f.pronargs) AS i (position)
CROSS JOIN LATERAL (SELECT nullif(p.proargnames[i.position], '') AS name) a;
-- Lists and filters of the same name in several functions are read by the same code: the functions take turns, so that each value is tried in every
-- such argument, by one function of three, and in some argument of every function.
CREATE TABLE turns AS
SELECT a.*, dense_rank() OVER (PARTITION BY a.name, a.type ORDER BY a.oid) AS turn,
    CASE WHEN a.type::text LIKE '%[]' OR a.type = 'jobstats_filter'::regtype THEN least(3, count(*) OVER (PARTITION BY a.name, a.type)) ELSE 1 END AS turns
FROM arguments a;
-- Every type has its values.
SELECT DISTINCT a.type FROM arguments a WHERE a.sane IS NULL;
CREATE TABLE calls AS
SELECT f.name, f.is_public, d.described, c.argument, c.tried,
    format(CASE WHEN f.prokind = 'p' THEN 'CALL %s(%s)' WHEN f.prokind = 'a' THEN 'SELECT %s(%s) FROM generate_series(1, 2)'
        WHEN f.is_record THEN 'SELECT count(*) FROM %s(%s) AS answer (a integer)' ELSE 'SELECT count(*) FROM %s(%s) AS answer' END, f.name, c.values) AS statement
FROM functions f
JOIN descriptions d ON d.name = f.name
CROSS JOIN LATERAL (
    SELECT a.name AS argument, n.value AS tried, (
        SELECT string_agg(format('(%s)::%s', CASE WHEN o.position = a.position THEN n.value ELSE o.sane END, o.type), ', ' ORDER BY o.position)
        FROM arguments o WHERE o.oid = f.oid) AS values
    FROM turns a JOIN nonsense n ON n.type = a.type AND (n.number + a.position + a.turn) % a.turns = 0
    -- CALL takes no subquery.
    WHERE a.oid = f.oid AND NOT (f.prokind = 'p' AND n.value LIKE '(SELECT%')
    UNION ALL
    SELECT NULL, NULL, (SELECT string_agg(format('(%s)::%s', o.sane, o.type), ', ' ORDER BY o.position) FROM arguments o WHERE o.oid = f.oid)
) c;
-- The feed, likewise.
CREATE VIEW columns AS
SELECT a.attnum AS position, a.attname AS name, a.atttypid::regtype AS type, coalesce((SELECT s.value FROM sane s WHERE s.name = a.attname AND s.type = a.atttypid),
    (SELECT s.value FROM sane s WHERE s.name IS NULL AND s.type = a.atttypid)) AS sane
FROM pg_attribute a WHERE a.attrelid = 'jobstats.feed'::regclass AND a.attnum > 0;
INSERT INTO calls
SELECT 'feed', true, '0A000 22001 22023 22P03 54000', a.name, n.value, format('INSERT INTO jobstats.feed (%s) VALUES (%s)',
    (SELECT string_agg(quote_ident(o.name), ', ' ORDER BY o.position) FROM columns o),
    (SELECT string_agg(format('(%s)::%s', CASE WHEN o.position = a.position THEN n.value ELSE o.sane END, o.type), ', ' ORDER BY o.position) FROM columns o))
FROM columns a JOIN nonsense n ON n.type = a.type;

-- Each call is a statement that is rolled back.
CREATE TABLE outcomes (name text, is_public boolean, described text, argument text, tried text, state text, message text, hint text);
CREATE FUNCTION attempt(INOUT it calls, OUT state text, OUT message text, OUT hint text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE it.statement;
    RAISE SQLSTATE 'DONE0';
EXCEPTION WHEN OTHERS OR query_canceled THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
END
$$;
SET statement_timeout = '5min';
\set ECHO none
\o /dev/null
SELECT format('INSERT INTO outcomes SELECT c.name, c.is_public, c.described, c.argument, c.tried, a.state, a.message, a.hint FROM calls c CROSS JOIN LATERAL attempt(c) a WHERE c.ctid = %L', c.ctid)
FROM calls c ORDER BY c.statement
\gexec
\o
\set ECHO all
RESET statement_timeout;
SELECT count(*) > 1000 AS many, count(*) FILTER (WHERE state = 'DONE0') > 500 AS of_which_well FROM outcomes;
-- Internal functions fail on nonsense with PostgreSQL's own errors.
SELECT o.name, o.argument, left(o.tried, 40) AS tried, o.state, left(o.message, 60) AS message
FROM outcomes o
WHERE NOT CASE WHEN o.is_public THEN o.state IN ('DONE0', '42501', '53200') OR position(o.state IN o.described) > 0
    ELSE left(o.state, 2) NOT IN ('XX', '57', '58', 'F0') END
ORDER BY o.name, o.argument, o.tried;
-- Messages are short, and each error that a user can cause has a hint.
SELECT o.name, o.argument, left(o.tried, 40) AS tried, o.state, left(o.message, 60) AS message, length(o.message)
FROM outcomes o
WHERE o.is_public AND o.state <> 'DONE0' AND (coalesce(o.hint, '') = '' OR length(o.message) > 301)
ORDER BY o.name, o.argument, o.tried;
DROP OWNED BY regress_nonsense;
DROP ROLE regress_nonsense;
