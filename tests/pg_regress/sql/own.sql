-- Readers of their own jobs see all of them in every function that answers them, and no others.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
SELECT jobstats_setup(retention => '100 years', raw_retention => '100 years', compress_after => '100 years') IS NOT NULL AS ready;
SET client_min_messages = warning;
CREATE ROLE regress_ada;
CREATE ROLE regress_bob;
CREATE ROLE regress_pi;
CREATE ROLE regress_web;
CREATE ROLE regress_stranger;
RESET client_min_messages;

-- Ada is 1000 and works for physics, Bob is 1001 and works for bio, but 15 is Bob's job for physics. The identifiers of 13 and 14 are bare
-- numbers, and 21 was first Ada's number and then Bob's.
DO $$ BEGIN
    PERFORM observe(target, 'server', 0, 10, 20) FROM unnest('{scratch-MDT0000,scratch-OST0000}'::text[]) AS target;
    PERFORM act('scratch-OST0000', e.entry, 0, 10, jsonb_build_object('write', 1000 + e.n, 'write_bytes', e.n * 4096000, 'write_usecs', 100000000 + e.n, 'read', 1, 'read_bytes', 4096, 'read_usecs', 1))
    FROM unnest('{11:1000:n01,12:1001:n02,13,14,15:1001:n03,rsync.1000,rsync.1001,21}'::text[]) WITH ORDINALITY AS e (entry, n);
    PERFORM act('scratch-MDT0000', e.entry, 10, 20, jsonb_build_object('open', 10 * e.n, 'open_usecs', 1000 * e.n))
    FROM unnest('{11:1000:n01,12:1001:n02,13,14,15:1001:n03,rsync.1000,rsync.1001}'::text[]) WITH ORDINALITY AS e (entry, n);
END $$;
INSERT INTO jobstats.jobs (scheduler, job, label, submitted, started, ended, uid, user_name, account, "partition", job_name, state, nodes, cpus, node_list, source, updated)
SELECT 'slurm', r.job, r.label, at(-2), at(-1), at(20), r.uid, 'user' || r.uid, r.account, 'main', 'sim ' || r.job, 'COMPLETED', 1, 16, 'n[01-03]', 'slurm', at(30)
FROM (VALUES ('11', '11', 1000, 'physics'), ('12', '12', 1001, 'bio'), ('13', '13', 1000, 'physics'), ('14', '14', 1001, 'bio'),
    ('15', '15', 1001, 'physics'), ('31', '30_1', 1001, 'bio')) AS r (job, label, uid, account);
INSERT INTO jobstats.job_ids (job_no, scheduler, job, label, runs, started, last_started, ended, uid, user_name, account, "partition", state) OVERRIDING SYSTEM VALUE
SELECT row_number() OVER (ORDER BY r.job, r.account), 'slurm', r.job, r.job, 1, at(-1), at(-1), at(20), r.uid, 'user' || r.uid, r.account, 'main', 'COMPLETED'
FROM (VALUES ('11', 1000, 'physics'), ('12', 1001, 'bio'), ('13', 1000, 'physics'), ('14', 1001, 'bio'), ('15', 1001, 'physics'),
    ('21', 1000, 'physics'), ('21', 1001, 'bio')) AS r (job, uid, account);
INSERT INTO jobstats.entry_jobs (entry_id, job_no, valid_from, valid_to, status, alone)
SELECT e.entry_id, i.job_no, CASE WHEN e.job = '21' AND i.uid = 1001 THEN timestamptz '2025-11-10' ELSE '2025-11-03' END,
    CASE WHEN e.job = '21' AND i.uid = 1000 THEN timestamptz '2025-11-10' ELSE 'infinity' END, 'known', e.job <> '21'
FROM jobstats.entries e JOIN jobstats.job_ids i ON i.job = e.job;

INSERT INTO jobstats.used_lists (target_id, kind, day, first, last)
SELECT t.target_id, k.kind, current_date, now(), now() FROM jobstats.targets t, unnest('{user,group}'::text[]) AS k (kind);
INSERT INTO jobstats.used_now (target_id, kind, id, kbytes, inodes)
SELECT l.target_id, l.kind, u.id, u.kbytes, 1 FROM jobstats.used_lists l, (VALUES (1000, 1), (1001, 2)) AS u (id, kbytes);
INSERT INTO jobstats.job_summaries (job_no, scheduler, job, runs, started, ended, run_time, uid, account, active_nodes, targets, read_bytes, write_bytes, read, write, opens, metadata, operations, made)
SELECT i.job_no, i.scheduler, i.job, 1, i.started, i.ended, '1 hour', i.uid, i.account, 1, 1, 0, 0, 0, 0, 0, 0, '{}', at(30) FROM jobstats.job_ids i;

SELECT jobstats_grant_own('regress_ada', uid => 1000) \gset
SELECT jobstats_grant_own('regress_bob', 1001) \gset
SELECT jobstats_grant_own('regress_pi', account => 'physics') \gset
SELECT jobstats_grant_own('regress_pi', 1001) \gset
SELECT jobstats_grant_proxy('regress_web') \gset
SELECT role, uid, account FROM jobstats.members ORDER BY role::text, uid;
GRANT USAGE ON SCHEMA world TO PUBLIC;

-- Every question; a reader of everything adds a filter to get the same rows.
CREATE TABLE questions (number integer GENERATED ALWAYS AS IDENTITY, question text);
INSERT INTO questions (question) VALUES
    ($$jobstats_rates(at(0), at(20), 'write_bytes,service_time', 'target,job,uid,account', '10 minutes'$$),
    ($$jobstats_rates(at(0), at(20), by => 'node,executable,status,entry,workload'$$),
    ($$jobstats_totals(at(0), at(20), by => 'uid,user,gid,group,account,partition,job_name,state,job_group'$$),
    ($$jobstats_totals(at(0), at(20), by => 'target', exclude => 'job='$$),
    ($$jobstats_totals(at(0), at(20), by => 'uid', exclude => 'job=11'$$),
    ($$jobstats_totals(at(0), at(20), by => 'account'$$),
    ($$jobstats_top(at(0), at(20), n => 100$$),
    ($$jobstats_top(at(0), at(20), 'write_bytes', 'job,uid'$$),
    ($$jobstats_summary(at(0), at(20)$$),
    ($$jobstats_summary(at(0), at(20), 'uid,node'$$),
    ($$jobstats_densities(at(0), at(20), 'write', 'uid,workload'$$),
    ($$jobstats_io_sizes(at(0), at(20), 'job'$$),
    ($$jobstats_changes(at(10), at(20), 'open', 'job', at(0), at(10)$$),
    ($$jobstats_baseline(at(10), at(20), 'open', 'job'$$),
    ($$jobstats_findings(at(0), at(20), levels => 'good,fair,bad'$$),
    ($$jobstats_verdict(at(0), at(20)$$),
    ($$jobstats_jobs('-infinity'$$),
    ($$jobstats_findings(at(0), at(20), 'uid,target', 'good,fair,bad'$$);
GRANT SELECT ON questions TO PUBLIC;
CREATE FUNCTION answers(filter text) RETURNS TABLE (number integer, answer jsonb) LANGUAGE plpgsql AS $$
DECLARE
    q record;
BEGIN
    FOR q IN SELECT * FROM questions LOOP
        RETURN QUERY EXECUTE format('SELECT %s, to_jsonb(a) FROM %s, filter => %L) a', q.number, q.question, filter);
    END LOOP;
END
$$;
CREATE TABLE seen (role text, number integer, answer jsonb);
GRANT INSERT ON seen TO PUBLIC;
SET client_min_messages = warning;
INSERT INTO seen SELECT 'all of ada', a.* FROM answers('uid=1000') a;
INSERT INTO seen SELECT 'all of bob', a.* FROM answers('uid=1001') a;
SET ROLE regress_ada;
INSERT INTO public.seen SELECT 'ada', a.* FROM answers('') a;
SET ROLE regress_bob;
INSERT INTO public.seen SELECT 'bob', a.* FROM answers('') a;
SET ROLE regress_web;
SET jobstats.on_behalf_of = 'regress_ada';
INSERT INTO public.seen SELECT 'web', a.* FROM answers('') a;
RESET jobstats.on_behalf_of;
RESET ROLE;
RESET client_min_messages;
-- They are the same, row by row.
CREATE FUNCTION apart(one text, other text) RETURNS TABLE (number integer, only_of text, answer jsonb) LANGUAGE sql AS $$
(SELECT number, one, answer FROM seen WHERE role = one EXCEPT ALL SELECT number, one, answer FROM seen WHERE role = other)
UNION ALL
(SELECT number, other, answer FROM seen WHERE role = other EXCEPT ALL SELECT number, other, answer FROM seen WHERE role = one)
ORDER BY 1, 2, 3
$$;
SELECT * FROM apart('all of ada', 'ada');
SELECT * FROM apart('all of bob', 'bob');
SELECT * FROM apart('ada', 'web');
SELECT count(DISTINCT number) AS questions_with_rows FROM seen WHERE role = 'ada';
-- The manager of an account sees the work of its jobs, and, here, all of Bob's.
SET ROLE regress_pi;
SELECT name, total FROM jobstats_totals(at(0), at(20), 'write', 'workload,job,uid,account') ORDER BY name;
RESET ROLE;

-- Jobs. Another user's job and an unknown job have the same answer; a job whose number was another's, too, is not separated by time.
SET ROLE regress_ada;
SELECT job, label, user_name, state, nodes, write_bytes FROM unnest('{11,13,12,14,4711,21,30_1,30_2}'::text[]) asked, jobstats_job(asked);
SELECT name, operation, total, nodes FROM jobstats_job_usage('11') WHERE operation IN ('write', 'open');
SELECT name, operation, total FROM jobstats_job_usage('13') WHERE operation = 'write' AND name = 'all';
SELECT job, operation, since_start, total FROM jobstats_compare('{11,13,12}', NULL, 'write');
SELECT job, user_name, account, state FROM jobstats_jobs('-infinity', filter => 'job=11');
SELECT count(*) FROM jobstats_jobs('-infinity', filter => 'job=12');
SELECT count(*) FROM jobstats_jobs('-infinity', filter => 'job=30*');
SELECT job FROM jobstats_jobs('-infinity');
SELECT count(*) FROM unnest('{12,14,4711,21,30_1,30_2}'::text[]) asked, jobstats_job_usage(asked);
SELECT count(*) FROM jobstats_job('12', 'slurm');
SELECT count(*) FROM jobstats_job_usage('12', scheduler => 'slurm');
SELECT count(*) FROM jobstats_job_usage('4711', scheduler => 'slurm');
-- Whole targets are everybody's.
SELECT name, operation, total FROM jobstats_totals(at(0), at(20), 'write,open');
SELECT count(*) FROM jobstats_untracked(at(0), at(20));
SELECT count(*) FROM jobstats_queues(at(0), at(20));

-- Space: her own, and the total.
SELECT name, bytes, labels FROM jobstats_space();
SELECT name, bytes, labels FROM jobstats_space(by => '');
SELECT count(*) FROM jobstats_space(by => 'group');
SELECT count(*) FROM jobstats_space(by => '', filter => 'uid=1001');
-- What does not limit its answers does not answer.
\set VERBOSITY sqlstate
SELECT count(*) FROM jobstats_now(n => 10);
SELECT count(*) FROM jobstats_internal.entries();
SELECT count(*) FROM jobstats_internal.work();
SELECT count(*) FROM jobstats_internal.attributed('12');
SELECT count(*) FROM jobstats_audit(at(0), at(20));
SELECT count(*) FROM jobstats_metrics();
SELECT count(*) FROM jobstats_targets();
SELECT count(*) FROM jobstats_internal.kept();
SELECT jobstats_grant_own('regress_ada', 1001);
SELECT jobstats_internal.as_owner('maintain', NULL);
RESET ROLE;
\set VERBOSITY terse

-- A role without a row sees no job, nor does a role whose row was deleted.
SET ROLE regress_stranger;
SELECT count(*) FROM jobstats_totals(at(0), at(20));
RESET ROLE;
DELETE FROM jobstats.members WHERE role = 'regress_bob'::regrole;
SET ROLE regress_bob;
SELECT count(*) FROM jobstats_totals(at(0), at(20), by => 'uid');
RESET ROLE;
-- Mistakes.
SELECT jobstats_grant_own('regress_bob');
SELECT jobstats_grant_own(NULL, 1);
SELECT jobstats_grant_own('regress_nobody', 1);
SELECT jobstats_grant_own('regress_bob', -1);
SELECT jobstats_grant_own(current_user, 1);
SELECT jobstats_grant_proxy(current_user);
-- A dropped role leaves no rights to a role that gets its OID.
CREATE ROLE regress_gone;
SELECT jobstats_grant_own('regress_gone', 1000), jobstats_grant_proxy('regress_gone') \gset
DROP ROLE regress_gone;
SELECT jobstats_setup() IS NOT NULL AS ready;
SELECT role FROM jobstats.members UNION ALL SELECT role FROM jobstats.proxies ORDER BY 1;
DELETE FROM jobstats.members;
DELETE FROM jobstats.proxies;
DROP TABLE seen, questions;
DROP FUNCTION answers;
REVOKE USAGE ON SCHEMA world FROM PUBLIC;
DROP ROLE regress_ada, regress_bob, regress_pi, regress_web, regress_stranger;
