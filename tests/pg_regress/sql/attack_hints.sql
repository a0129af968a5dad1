-- Every error that a user can cause has a hint, and shows only the beginning of an argument.
\i texts.sql
\i said.sql
\set ECHO all
SET client_min_messages = warning;
CREATE EXTENSION jobstats;
CREATE ROLE regress_bound;
CREATE TABLE tried (number integer GENERATED ALWAYS AS IDENTITY, statement text);
GRANT SELECT ON tried TO PUBLIC;
CREATE VIEW told AS SELECT t.statement || E'\n  ' || said(t.statement, E'\n    ') AS told FROM tried t ORDER BY t.number;
\pset format unaligned
\pset tuples_only
-- Without a store.
INSERT INTO tried (statement) VALUES ($$SELECT * FROM jobstats_top()$$), ($$SELECT jobstats_grant_reader('regress_bound')$$), ($$CALL jobstats_maintain()$$);
TABLE told;
DO $$ BEGIN PERFORM jobstats_setup(); PERFORM jobstats_grant_writer('regress_bound', 'c1'); END $$;
TRUNCATE tried;
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('oss1', now() - interval '2 minutes', ost('fs-OST0000', record('1:1000:n1', 1, 4096))),
    ('oss1', now() - interval '1 minute', ost('fs-OST0000', record('1:1000:n1', 2, 8192)));
INSERT INTO jobstats.targets (cluster, name, kind) SELECT 'many', 'fs-OST' || n, 'OST' FROM generate_series(1, 12) n;
INSERT INTO tried (statement) VALUES
    -- Windows and steps.
    ($$SELECT * FROM jobstats_rates('infinity')$$), ($$SELECT * FROM jobstats_totals(until => '-infinity')$$), ($$SELECT * FROM jobstats_top('294276-01-01')$$),
    ($$SELECT * FROM jobstats_summary(now(), now())$$), ($$SELECT * FROM jobstats_audit(now(), now())$$), ($$SELECT * FROM jobstats_reprocess(now(), now())$$),
    ($$SELECT * FROM jobstats_job_usage('1', since => now(), until => now())$$), ($$SELECT * FROM jobstats_job_usage(NULL)$$), ($$SELECT * FROM jobstats_compare(NULL)$$),
    ($$SELECT * FROM jobstats_compare('{1}', '1 month')$$), ($$SELECT * FROM jobstats_compare(ARRAY[repeat('x', 1100000)])$$),
    ($$SELECT * FROM jobstats_rates(step => '0')$$), ($$SELECT * FROM jobstats_densities(step => '1 mon -1 day')$$),
    ($$SELECT * FROM jobstats_rates(step => '178000000 years')$$), ($$SELECT * FROM jobstats_rates(now() - interval '2 hours', step => '8 ms')$$),
    ($$SELECT * FROM jobstats_rates('2025-11-03', '2025-11-04', step => '1 s', by => '', filter => 'cluster=many')$$),
    ($$SELECT * FROM jobstats_top(n => -1)$$), ($$SELECT * FROM jobstats_now(n => -1)$$), ($$SELECT * FROM jobstats_densities(base => 1)$$),
    -- Names and patterns.
    ($$SELECT * FROM jobstats_top(operation => 'x')$$), ($$SELECT * FROM jobstats_top(by => 'x')$$), ($$SELECT * FROM jobstats_top(by => '{NULL}')$$),
    ($$SELECT * FROM jobstats_rates(operations => array_to_string(ARRAY[repeat('x', 1000000)], ','))$$), ($$SELECT * FROM jobstats_top(by => array_to_string(ARRAY[repeat('é', 300000)], ','))$$),
    -- Weights.
    ($$SELECT * FROM jobstats_rates(weights => '{"write": 1e400}')$$), ($$SELECT * FROM jobstats_top(operation => 'weighted', weights => '{}')$$),
    ($$SELECT * FROM jobstats_top(operation => 'weighted', weights => '[]')$$), ($$SELECT * FROM jobstats_rates(weights => '{"write": "1"}')$$),
    ($$SELECT * FROM jobstats_rates(weights => '{"write": [[1]]}')$$), ($$SELECT * FROM jobstats_rates(weights => '{"x": 1}')$$),
    ($$SELECT * FROM jobstats_rates(weights => (repeat('[', 200) || repeat(']', 200))::jsonb)$$),
    ($$SELECT * FROM jobstats_rates(weights => jsonb_build_object(repeat('x', 10000), 'x'))$$), ($$SELECT * FROM jobstats_top(operation => 'weighted')$$),
    -- Feeds.
    ($$INSERT INTO jobstats.feed (server) VALUES ('oss1')$$), ($$INSERT INTO jobstats.feed (server, body, body_zstd) VALUES ('oss1', '', '')$$),
    ($$INSERT INTO jobstats.feed (body) VALUES ('')$$), ($$INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', 'infinity', '')$$),
    ($$INSERT INTO jobstats.feed (server, body_zstd) VALUES ('oss1', 'x')$$), ($$INSERT INTO jobstats.feed (server, cluster, body) VALUES ('oss1', repeat('x', 9000), '')$$),
    ($$INSERT INTO jobstats.feed (server, body) VALUES (repeat('x', 1000000), '')$$),
    -- Roles.
    ($$SELECT jobstats_grant_writer(NULL)$$), ($$SELECT jobstats_grant_reader(NULL)$$), ($$SELECT jobstats_grant_writer('nobody at all')$$),
    ($$SELECT jobstats_grant_writer('regress_bound', repeat('x', 9000))$$),
    -- Aggregates and their types.
    ($$SELECT jobstats_counter_agg(now(), -1)$$), ($$SELECT jobstats_counter_agg('infinity', 1)$$), ($$SELECT jobstats_density_agg(-1)$$),
    ($$SELECT jobstats_density_agg('NaN'::double precision)$$), ($$SELECT jobstats_density_agg(1, 101)$$), ($$SELECT 'x'::jobstats_counter$$), ($$SELECT repeat('x', 1000000)::jobstats_density$$),
    ($$SELECT jobstats_rollup(d) FROM (SELECT jobstats_density_agg(1, 2) UNION ALL SELECT jobstats_density_agg(1, 3)) s (d)$$),
    ($$SELECT jobstats_rollup(c) FROM (SELECT jobstats_counter_agg(now(), 1) FROM generate_series(1, 2) n GROUP BY n) s (c)$$),
    ($$SELECT jobstats_counter_agg(now(), 7, NULL, 7)$$), ($$SELECT jobstats_counter_agg(now(), 7, NULL, 0)$$), ($$SELECT jobstats_counter_agg(now(), 1, NULL, 6 + n) FROM generate_series(1, 2) n$$),
    ($$SELECT jobstats_counter_increase(c, c) FROM (SELECT jobstats_counter_agg(now(), 1)) s (c)$$),
    -- Procedures and steps of theirs.
    ($$CALL jobstats_maintain()$$), ($$CALL jobstats_convert()$$), ($$SELECT jobstats_internal.roll_up('10m', NULL, now(), now())$$),
    ($$SELECT jobstats_internal.as_owner('x', NULL)$$), ($$SELECT jobstats_internal.days_at_once(repeat('x', 1000000), false, now(), now())$$);
TABLE told;
-- As a writer that is bound.
TRUNCATE tried;
INSERT INTO tried (statement) VALUES ($$INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c2', 'oss1', '')$$),
    ($$INSERT INTO jobstats.feed (cluster, server, body) VALUES (repeat('c', 1000000), repeat('s', 1000000), '')$$);
GRANT SELECT ON told TO regress_bound;
SET SESSION AUTHORIZATION regress_bound;
SELECT t.statement || E'\n  ' || said(t.statement) FROM tried t ORDER BY t.number;
RESET SESSION AUTHORIZATION;
-- In a read-only transaction, and in one with an older snapshot.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT said($$INSERT INTO jobstats.feed (server, body) VALUES ('oss1', '')$$);
ROLLBACK;
SET default_transaction_read_only = on;
SELECT DISTINCT said(w.statement)
FROM unnest(ARRAY['SELECT jobstats_setup()', 'SELECT jobstats_reidentify()', $$SELECT jobstats_alter_target('t', retired => true)$$,
    $$SELECT jobstats_alter_target('t', rename_to => 'u')$$, $$SELECT jobstats_reprocess(now() - interval '1 hour', now())$$,
    $$SELECT jobstats_reprocess(now() - interval '1 hour', now(), source => 'slurm')$$, 'CALL jobstats_maintain()', 'CALL jobstats_convert()']) AS w (statement);
RESET default_transaction_read_only;
-- A writer whose role is gone has no row any more after the next maintenance.
CREATE ROLE regress_gone;
DO $$ BEGIN PERFORM jobstats_grant_writer('regress_gone', 'c1'); END $$;
DROP OWNED BY regress_gone;
DROP ROLE regress_gone;
SELECT count(*) FROM jobstats.writers;
CALL jobstats_maintain();
SELECT role FROM jobstats.writers;
-- In sentences, control characters and marks of direction in names are escaped: a terminal obeys them, and a line may look like two.
INSERT INTO jobstats.feed (server, "time", body) VALUES (E'oss\x1b[2J\n9', now(), 'x'),
    ('oss1', date_trunc('hour', now()) - interval '3 hours', ost('fs-OST0001', record('1:1000:n1', 1, 4096), record(E'\x1b[2J', 1, 4096))),
    ('oss1', date_trunc('hour', now()) - interval '2 hours', ost('fs-OST0001', record('1:1000:n1', 3, 4096), record(E'\x1b[2J', 3, 4096)));
CALL jobstats_maintain();
INSERT INTO jobstats.events (kind, cluster, filesystem, began, found, until, updated, severity, targets, servers, usual, rate, details, culprits, notified)
SELECT k.kind, '', 'fs', d.day, d.day, d.day, d.day, 'warning', ARRAY[E'fs-OST\x1b[2J'], ARRAY[E'oss\n9\u2028'], 1, 1, '{"services": ["ost"]}',
    jsonb_build_object('by', 'job', 'named', true, 'subjects', jsonb_build_array(jsonb_build_object('job', E'1\x1b[2J\r\u202e', 'share', 1))), now()
FROM unnest('{waiting,slow_target}'::text[]) AS k (kind), (VALUES (timestamptz '2025-11-03 10:00+00')) AS d (day);
SELECT x.text FROM jobstats.events e, jobstats_explain(e.event_id) x WHERE x.topic IN ('what', 'who', 'excluded') ORDER BY e.event_id, x.line;
SELECT a -> 'annotations' ->> 'summary', a -> 'annotations' ->> 'description' FROM jsonb_array_elements(jobstats_alerts(true)) a;
SELECT states, remedy FROM jobstats.health WHERE states = '{rejects}' AND server LIKE 'oss%9';
SELECT DISTINCT example ~ '[[:cntrl:]]', remedy ~ '[[:cntrl:]]', remedy LIKE '%for example \\u{1b}%' FROM jobstats.job_quality WHERE status = 'malformed';
SELECT bool_or(remedy ~ '[[:cntrl:]]') FROM jobstats.health;
\pset format aligned
\pset tuples_only off
DROP OWNED BY regress_bound;
DROP ROLE regress_bound;
