-- Ada may see her own jobs only. She filters for Eve's values and for values that do not exist, and compares PostgreSQL's counters of each
-- table and index and the buffers of EXPLAIN. If filters ran before the check of the owner, these would reveal identifiers letter by
-- letter.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE ROLE regress_ada;
CREATE ROLE regress_pi;
CREATE ROLE regress_all;
DO $$ BEGIN
    PERFORM jobstats_setup(retention => '100 years', raw_retention => '100 years', compress_after => '100 years');
    PERFORM observe('scratch-OST0000', 'server', 0, 10, 20);
    PERFORM act('scratch-OST0000', '11:1000:n01', 0, 10, '{"write": 10, "write_bytes": 40960, "write_usecs": 70}');
    PERFORM act('scratch-OST0000', '12', 0, 10, '{"write": 10, "write_bytes": 40960, "write_usecs": 70}');
    PERFORM act('scratch-OST0000', '777:4242:evenode', 0, 10, '{"write": 1000, "write_bytes": 4096000, "write_usecs": 7000}');
    PERFORM act('scratch-OST0000', '778', 0, 10, '{"write": 1000, "write_bytes": 4096000, "write_usecs": 7000}');
    PERFORM act('scratch-OST0000', 'eveprog.4242', 0, 10, '{"write": 1000, "write_bytes": 4096000, "write_usecs": 7000}');
    FOR n IN 1000 .. 1400 LOOP
        PERFORM act('scratch-OST0000', n || ':' || n + 4000 || ':m' || n, 0, 10, '{"write": 1, "write_bytes": 1, "write_usecs": 1}');
    END LOOP;
END $$;
INSERT INTO jobstats.users (uid, user_name, gid) SELECT 5000 + n, 'user' || n, 500 FROM generate_series(0, 400) n
UNION ALL VALUES (1000, 'ada', 100), (4242, 'evename', 777);
INSERT INTO jobstats.groups (gid, group_name) VALUES (100, 'staff'), (500, 'users'), (777, 'evegroup');
INSERT INTO jobstats.job_ids (scheduler, job, label, runs, started, last_started, ended, uid, account, "partition", job_name, state, job_group)
SELECT 'slurm', e.job, e.job, 1, at(0), at(0), at(20), coalesce(e.uid, CASE e.job WHEN '12' THEN 1000 ELSE 4242 END),
    CASE WHEN e.job IN ('11', '12') THEN 'physics' WHEN e.job LIKE '77_' THEN 'eveaccount' ELSE 'a' || e.job END,
    CASE WHEN e.job LIKE '77_' THEN 'evepartition' ELSE 'batch' END, CASE WHEN e.job LIKE '77_' THEN 'evejob' ELSE 'run' END,
    CASE WHEN e.job LIKE '77_' THEN 'EVESTATE' ELSE 'COMPLETED' END, e.job
FROM jobstats.entries e WHERE e.job IS NOT NULL;
INSERT INTO jobstats.entry_jobs (entry_id, job_no, valid_from, valid_to, status, alone)
SELECT e.entry_id, i.job_no, '2025-11-03', 'infinity', 'known', true FROM jobstats.entries e JOIN jobstats.job_ids i USING (job);
INSERT INTO jobstats.jobs (scheduler, job, label, parent, submitted, started, ended, uid, account, job_name, state, nodes, source, updated)
SELECT 'slurm', i.job, CASE i.job WHEN '777' THEN '770_1' WHEN '778' THEN '770_2' ELSE i.job END, CASE WHEN i.job LIKE '77_' THEN '770' END,
    i.started, i.started, i.ended, i.uid, i.account, i.job_name, i.state, 1, 'slurm', at(30) FROM jobstats.job_ids i;
INSERT INTO jobstats.job_summaries (job_no, scheduler, job, label, runs, started, ended, run_time, uid, account, active_nodes, targets, read_bytes, write_bytes, read, write, opens, metadata, operations, made)
SELECT i.job_no, 'slurm', i.job, i.label, 1, i.started, i.ended, '1 hour', i.uid, i.account, 1, 1, 0, 0, 0, 0, 0, 0, '{}', at(30) FROM jobstats.job_ids i;
INSERT INTO jobstats.used_lists (target_id, kind, day, first, last)
SELECT t.target_id, k.kind, at(0)::date, at(0), at(0) FROM jobstats.targets t, unnest('{user,group,project}'::text[]) k (kind);
INSERT INTO jobstats.used_now (target_id, kind, id, kbytes, inodes)
SELECT l.target_id, l.kind, i.id, 1, 1 FROM jobstats.used_lists l, (SELECT u.uid FROM jobstats.users u UNION SELECT g.gid FROM jobstats.groups g) i (id);
DO $$ BEGIN CALL jobstats_maintain(); END $$;
VACUUM ANALYZE;
SELECT jobstats_grant_own('regress_ada', 1000), jobstats_grant_own('regress_pi', NULL, 'physics'), jobstats_grant_reader('regress_all') \gset
GRANT USAGE, CREATE ON SCHEMA world TO PUBLIC;

-- What PostgreSQL counts in this transaction of each relation of the store: scans, rows returned and fetched.
CREATE FUNCTION world.counters() RETURNS TABLE (relation text, counted bigint[]) LANGUAGE sql VOLATILE AS $$
SELECT c.oid::regclass::text, ARRAY[pg_stat_get_xact_numscans(c.oid), pg_stat_get_xact_tuples_returned(c.oid), pg_stat_get_xact_tuples_fetched(c.oid)]
FROM pg_class c LEFT JOIN pg_class t ON t.reltoastrelid = c.oid
WHERE 'jobstats'::regnamespace IN (c.relnamespace, t.relnamespace) AND c.relkind IN ('r', 't', 'i')
$$;
-- What a statement reads, by these counters, and the pages that it looks at.
CREATE FUNCTION world.reads(statement text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    before jsonb;
    after jsonb;
    plan jsonb;
BEGIN
    SELECT jsonb_object_agg(c.relation, c.counted) INTO before FROM counters() c;
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ' || statement INTO plan;
    SELECT jsonb_object_agg(c.relation, c.counted) INTO after FROM counters() c;
    RETURN (SELECT jsonb_object_agg(a.key, (SELECT jsonb_agg((a.value ->> n)::bigint - (before -> a.key ->> n)::bigint) FROM generate_series(0, 2) n))
            FROM jsonb_each(after) a)
        || jsonb_build_object('pages', (plan #>> '{0,Plan,Shared Hit Blocks}')::bigint + (plan #>> '{0,Plan,Shared Read Blocks}')::bigint);
END
$$;
-- Relations that distinguish two statements. Catalog lookups depend on earlier lookups and on other sessions: only a difference in each run
-- counts.
CREATE FUNCTION world.apart(one text, other text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    of_one jsonb;
    of_other jsonb;
    told text;
BEGIN
    FOR n IN 1 .. 5 LOOP
        of_one := reads(one);
        of_other := reads(other);
        SELECT string_agg(format('%s %s %s', key, of_one -> key, value), ', ' ORDER BY key) INTO told
        FROM jsonb_each(of_other) WHERE value <> of_one -> key;
        EXIT WHEN told IS NULL;
    END LOOP;
    RETURN told;
END
$$;
CREATE TABLE world.questions (number integer GENERATED ALWAYS AS IDENTITY, statement text, eves text, nobodys text);
GRANT SELECT ON world.questions TO PUBLIC;
INSERT INTO world.questions (statement, eves, nobodys) VALUES
    ('jobstats_job_usage(%L)', '777', '666'), ('jobstats_job_usage(%L)', '770_1', '660_1'), ('jobstats_job_usage(%L)', '770', '660'), ('jobstats_job_usage(%L)', '778', '668'),
    ('jobstats_job_usage(%L, scheduler => ''slurm'')', '777', '666'), ('jobstats_job_usage(%L, since => at(0), until => at(20))', '777', '666'),
    ('jobstats_jobs(''-infinity'', filter => ''job=%s'')', '777', '666'), ('jobstats_jobs(''-infinity'', filter => ''job=%s'')', '770', '660'),
    ('jobstats_jobs(''-infinity'', operation => ''read_bytes'', filter => ''job=%s'')', '777', '666'), ('jobstats_jobs(''-infinity'', filter => ''uid=%s'')', '4242', '6666'),
    ('jobstats_jobs(at(10), at(20), filter => ''uid=%s'')', '4242', '6666'), ('jobstats_job(%L)', '777', '666'), ('jobstats_job(%L, scheduler => ''slurm'')', '777', '666'),
    ('jobstats_compare(ARRAY[%L])', '777', '666'), ('jobstats_compare(ARRAY[%L])', '770_1', '660_1');
INSERT INTO world.questions (statement, eves, nobodys) VALUES
    ('jobstats_space(filter => ''uid=%s'')', '4242', '6666'), ('jobstats_space(filter => ''user=%s'')', 'evename', 'nobodys'),
    ('jobstats_space(filter => ''user=%s'')', 'e*', 'o*'), ('jobstats_space(filter => ''gid=%s'')', '777', '666'),
    ('jobstats_space(filter => ''group=%s'')', 'evegroup', 'nobodyss'), ('jobstats_space(filter => ''account=%s'')', 'eveaccount', 'nobodysacc'),
    ('jobstats_space(by => ''account'', filter => ''user=%s'')', 'evename', 'nobodys'), ('jobstats_space(by => ''group'', filter => ''gid=%s'')', '777', '666'),
    ('jobstats_space(by => ''group'', filter => ''group=%s'')', 'evegroup', 'nobodyss'), ('jobstats_space(by => ''project'', filter => ''project=%s'')', '777', '666'),
    ('jobstats_space(since => at(0), filter => ''user=%s'')', 'evename', 'nobodys');
-- Each dimension of entries, by sums of increments and of rollups, and by a prefix of the guessed value; and each function with filters.
INSERT INTO world.questions (statement, eves, nobodys)
SELECT format(f.call, format('filter => jsonb_build_object(%L, ARRAY[%%L])', d.name)), d.eves, d.nobodys
FROM (VALUES ('jobstats_totals(at(0), at(20), %s)', true), ('jobstats_totals(at(-7200), at(20), by => ''uid'', %s)', true),
        ('jobstats_rates(at(0), at(20), by => ''user'', %s)', false), ('jobstats_top(at(0), at(20), %s)', false),
        ('jobstats_summary(at(0), at(20), %s)', false), ('jobstats_densities(at(0), at(20), %s)', false), ('jobstats_io_sizes(at(0), at(20), %s)', false),
        ('jobstats_changes(at(10), at(20), baseline_since => at(0), baseline_until => at(10), %s)', false),
        ('jobstats_baseline(at(10), at(20), %s)', false), ('jobstats_findings(at(0), at(20), %s)', false), ('jobstats_verdict(at(0), at(20), %s)', false)) f (call, each),
    (VALUES ('job', '777', '666', true), ('job', '770_1', '660_1', false), ('workload', '777', '666', false),
        ('entry', '777:4242:evenode', '777:4242:evenodf', true), ('node', 'evenode', 'nobodys', false), ('executable', 'eveprog', 'nobodys', false),
        ('uid', '4242', '6666', true), ('user', 'evename', 'nobodys', true), ('group', 'evegroup', 'nobodyss', false),
        ('gid', '777', '666', false), ('account', 'eveaccount', 'nobodysacc', true), ('partition', 'evepartition', 'nobodyspartn', false),
        ('job_name', 'evejob', 'nobody', false), ('state', 'EVESTATE', 'NOBODYSS', false), ('job_group', '777', '666', false),
        ('entry', '77*', '66*', false), ('job', '7*', '6*', false), ('user', 'e*', 'o*', false)) d (name, eves, nobodys, everywhere)
WHERE f.each OR d.everywhere
UNION ALL VALUES ('jobstats_totals(at(0), at(20), by => ''target'', exclude => ''{"job": ["%s"]}'')', '777', '666');
SELECT count(*) FROM world.questions;
-- With each planner setting that a reader can choose.
CREATE FUNCTION world.tell_apart(asked text[] DEFAULT '{as they come,without scans,nested loops}') RETURNS TABLE (number integer, plans text, question text, told text) LANGUAGE plpgsql AS $$
DECLARE
    q record;
BEGIN
    FOREACH plans IN ARRAY asked LOOP
        PERFORM set_config('enable_seqscan', CASE WHEN plans = 'as they come' THEN 'on' ELSE 'off' END, true),
            set_config('enable_hashjoin', CASE WHEN plans = 'nested loops' THEN 'off' ELSE 'on' END, true),
            set_config('enable_bitmapscan', CASE WHEN plans = 'nested loops' THEN 'off' ELSE 'on' END, true);
        FOR q IN SELECT * FROM questions ORDER BY questions.number LOOP
            number := q.number;
            question := format(q.statement, q.eves);
            told := apart('SELECT * FROM ' || question, 'SELECT * FROM ' || format(q.statement, q.nobodys));
            IF told IS NOT NULL THEN
                RETURN NEXT;
            END IF;
        END LOOP;
    END LOOP;
END
$$;
SET search_path = public, world;
SET ROLE regress_ada;
SET client_min_messages = error;
SELECT * FROM tell_apart();
RESET ROLE;
-- The manager of an account.
SET ROLE regress_pi;
SELECT * FROM tell_apart('{without scans}');
RESET ROLE;
-- For a reader of everything, who gets other rows, they differ.
SET ROLE regress_all;
SELECT count(DISTINCT number) > 50 AS differ FROM tell_apart('{without scans}');
RESET ROLE;
RESET client_min_messages;
DELETE FROM jobstats.members;
REVOKE USAGE, CREATE ON SCHEMA world FROM PUBLIC;
SET client_min_messages = warning;
DROP OWNED BY regress_all;
DROP ROLE regress_ada, regress_pi, regress_all;
