-- The view job_quality: jobs of entries by day and status, with likely causes; and the states in health.
\i store.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
DO $$ BEGIN PERFORM jobstats_setup(retention => '100 years', raw_retention => '100 years', compress_after => '100 years'); END $$;
UPDATE texts.clock SET zero = '2025-11-03 08:00+00';

-- The accounting of a scheduler: number, scheduler, start and end in minutes after 8:00, user.
CREATE FUNCTION texts.run(job text, scheduler text, started numeric, ended numeric, uid integer, nodes text DEFAULT 'n[01-09]')
RETURNS text LANGUAGE sql AS $$
SELECT concat_ws('|', job, job, scheduler, extract(epoch FROM at(started - 1))::bigint, extract(epoch FROM at(started))::bigint,
    extract(epoch FROM at(ended))::bigint, uid, 'user' || uid, 'COMPLETED', nodes) || E'\n'
$$;
CREATE FUNCTION texts.account(since numeric, until numeric, runs text DEFAULT '') RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (server, "time", body, source, covers)
VALUES ('slurm1', at(until), translate(E'JobIDRaw|JobID|Cluster|Submit|Start|End|UID|User|State|NodeList\n' || runs, '|', chr(31)), 'slurm', tstzrange(at(since), at(until)))
$$;
-- Entries are active in these minutes, by 4096 bytes and a call in each ten of them.
CREATE FUNCTION texts.act(cluster text, since numeric, until numeric, VARIADIC entries text[]) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT cluster, 'oss1', at(o.minute), ost('scratch-OST0000', (SELECT string_agg(record(id, o.minute::integer, o.minute::integer * 4096), '' ORDER BY id)
    FROM unnest(entries) AS id))
FROM generate_series(since, until, 10) AS o (minute)
$$;
-- Health for the hour that ends at a minute, as maintenance would compute it then.
CREATE FUNCTION texts.health_at(minute numeric) RETURNS TABLE (cluster text, states text[], remedy text) LANGUAGE plpgsql AS $$
DECLARE
    known timestamptz[] := ARRAY(SELECT l.refreshed FROM jobstats.rollups l WHERE l.level IN ('10m', '1d') ORDER BY l.width);
BEGIN
    UPDATE jobstats.rollups l SET refreshed = at(minute) WHERE l.level IN ('10m', '1d');
    PERFORM jobstats_internal.advise();
    UPDATE jobstats.rollups l SET refreshed = known[CASE l.level WHEN '10m' THEN 1 ELSE 2 END] WHERE l.level IN ('10m', '1d');
    RETURN QUERY SELECT h.cluster, h.states, h.remedy FROM jobstats.health h WHERE h.states && '{accounting,ids,nodes}' AND h.target IS NULL
        AND h.remedy NOT LIKE 'The accounting of % has been read up to %' ORDER BY 1, 2, 3;
END
$$;
SELECT * FROM jobstats.job_quality;

-- Each entry has one status. 14 is two jobs of different users; accounting lacks 15; accounting was read from minute -60 to 120.
SELECT account(-60, 120, run('11', 'alpha', 0, 50, 1000) || run('12', 'alpha', 0, 50, 1001) || run('14', 'alpha', 0, 50, 1000)
    || run('14', 'beta', 5, 60, 1001));
SELECT act('', 0, 50, '11:1000:n01', '12:1001:', '14', '15:1000:n01', 'cp.1000', ':1000:n02', 'a b c');
SELECT act('', 130, 150, '16:1000:n01');
-- A shell that was left over. A day without accounting.
SELECT account(1200, 1560);
SELECT act('', 1500, 1520, '11:1000:n01');
SELECT act('', 3000, 3020, '11:1000:n01', '17:1000:n01');
CALL jobstats_maintain();
SELECT day::date, status, entries, calls, bytes, share, example FROM jobstats.job_quality ORDER BY day, status;
SELECT status, remedy FROM jobstats.job_quality WHERE day < at(900) AND remedy IS NOT NULL ORDER BY status;
SELECT day::date, status, remedy FROM jobstats.job_quality WHERE day > at(900) AND status IN ('stale', 'uncovered') ORDER BY day, status;

-- They add up to all that was active.
CREATE VIEW sums AS
SELECT a.day::date, a.entries = q.entries AS entries, a.calls = q.calls AS calls, a.bytes = q.bytes AS bytes, abs(q.share - 1) < 1e-9 AS share
FROM (
    SELECT date_bin('24 hours', r.bucket, 'epoch') AS day, count(DISTINCT r.entry_id) AS entries, sum(r.write) AS calls, sum(r.write_bytes) AS bytes
    FROM jobstats.rollup_1d r GROUP BY 1) a
FULL JOIN (
    SELECT day, sum(entries) AS entries, sum(calls) AS calls, sum(bytes) AS bytes, sum(share) AS share FROM jobstats.job_quality GROUP BY 1) q USING (day);
TABLE sums ORDER BY day;
-- A day that is not yet in rollups of days is read from ten minutes.
CREATE TABLE before AS SELECT * FROM jobstats.job_quality;
BEGIN;
UPDATE jobstats.rollups SET refreshed = at(-480) WHERE level = '1d';
(TABLE before EXCEPT SELECT * FROM jobstats.job_quality) UNION ALL (SELECT * FROM jobstats.job_quality EXCEPT TABLE before);
ROLLBACK;
-- Junk does not affect stored rows.
SELECT count(*) FROM jobstats.entry_jobs j JOIN jobstats.entries e USING (entry_id) WHERE e.job IN ('15', '16', '17');
-- The accounting of each scheduler whose number it may be must have been read.
BEGIN;
INSERT INTO jobstats.covered VALUES ('beta', 'slurm', at(-60), at(20));
SELECT status, entries FROM jobstats.job_quality WHERE day < at(900) AND status IN ('unconfirmed', 'uncovered') ORDER BY status;
-- A target that has been gone for seven days does not count any more, nor does a scheduler to which the node does not belong.
UPDATE jobstats.covered SET since = at(-20000), until = at(-10081) WHERE cluster = 'beta';
SELECT status, entries FROM jobstats.job_quality WHERE day < at(900) AND status IN ('unconfirmed', 'uncovered') ORDER BY status;
UPDATE jobstats.covered SET until = at(-1) WHERE cluster = 'beta';
SELECT status, entries FROM jobstats.job_quality WHERE day < at(900) AND status IN ('unconfirmed', 'uncovered') ORDER BY status;
INSERT INTO jobstats.nodes (pattern, scheduler) VALUES ('n*', 'alpha');
SELECT status, entries FROM jobstats.job_quality WHERE day < at(900) AND status IN ('unconfirmed', 'uncovered') ORDER BY status;
ROLLBACK;
-- LSF and Grid Engine name a job when it has ended: until a day after its last I/O it is unknown.
BEGIN;
DELETE FROM jobstats.covered;
INSERT INTO jobstats.covered VALUES ('', 'lsf', at(-60), at(1480));
SELECT status, entries, remedy FROM jobstats.job_quality WHERE day < at(900) AND status IN ('unconfirmed', 'uncovered') ORDER BY status;
UPDATE jobstats.covered SET until = at(1500);
SELECT status, entries FROM jobstats.job_quality WHERE day < at(900) AND status IN ('unconfirmed', 'uncovered') ORDER BY status;
DELETE FROM jobstats.covered;
SELECT status, entries, remedy FROM jobstats.job_quality WHERE day < at(900) AND status IN ('unconfirmed', 'uncovered') ORDER BY status;
ROLLBACK;
-- All of these are few.
SELECT * FROM health_at(50);

-- Slurm hides the jobs of others: accounting has one user, and entries have several.
SELECT account(5700, 5800, run('900', 'alpha', 5760, 5790, 1000));
SELECT act('private', 5760, 5780, VARIADIC ARRAY(SELECT format('%s:%s:n0%s', 900 + n, 1000 + n % 4, n % 9) FROM generate_series(0, 11) n));
-- A user who makes numbers up is one user, and accounting of more users is not hidden.
SELECT act('junk', 5760, 5780, VARIADIC ARRAY['900:1000:n01'] || ARRAY(SELECT format('77%s:1000:n01', n) FROM generate_series(10, 40) n));
SELECT account(5800, 5900, run('980', 'alpha', 5760, 5790, 1000) || run('981', 'alpha', 5760, 5790, 1001));
SELECT act('others', 5760, 5780, VARIADIC '{980:1000:n01,981:1001:n02}' || ARRAY(SELECT format('88%s:%s:n01', n, n) FROM generate_series(1010, 1029) n));
CALL jobstats_maintain();
SELECT cluster, status, entries, remedy FROM jobstats.job_quality WHERE day > at(5000) ORDER BY cluster, status;
SELECT * FROM health_at(5780);

-- Two clusters use the same numbers.
SELECT account(8600, 8700, string_agg(run((3000 + n)::text, 'alpha', 8640, 8690, 1000, 'a[1-9]') || run((3000 + n)::text, 'beta', 8640, 8690, 1001, 'b[1-9]'), ''))
FROM generate_series(1, 12) n;
SELECT act('', 8640, 8660, VARIADIC ARRAY(SELECT format('30%s', to_char(n, 'FM00')) FROM generate_series(1, 12) n));
SELECT act('nodes', 8640, 8660, VARIADIC ARRAY(SELECT format('30%s:0:n%s', to_char(n, 'FM00'), n) FROM generate_series(1, 12) n));
CALL jobstats_maintain();
SELECT * FROM health_at(8660);
INSERT INTO jobstats.nodes (pattern, scheduler) VALUES ('n*', 'alpha');
SELECT jobstats_reidentify();
CALL jobstats_maintain();
SELECT cluster FROM health_at(8660);

-- The class of nodes: unexpected jobs, and missing jobs. Daemons of the system do not matter.
DELETE FROM jobstats.nodes;
INSERT INTO jobstats.nodes (pattern, scheduler, class) VALUES ('n*', NULL, 'compute'), ('c*', NULL, 'login'), ('d*', NULL, 'transfer'), ('l*', NULL, 'compute'), ('s*', NULL, 'compute');
SELECT account(11500, 11600, string_agg(run((4000 + n)::text, 'alpha', 11520, 11590, 1000, 'c[01-99],d[01-99],n[01-99]'), '')) FROM generate_series(1, 12) n;
SELECT act('', 11520, 11540, VARIADIC ARRAY(
    SELECT unnest(ARRAY[format('40%s:1000:c01', to_char(n, 'FM00')), format('40%s:1000:d01', to_char(n, 'FM00')), format('40%s:1000:n01', to_char(n, 'FM00')),
        format(':%s:l01', 2000 + n), format(':%s:s01', 100 + n)])
    FROM generate_series(1, 12) n));
CALL jobstats_maintain();
SELECT * FROM health_at(11540);
UPDATE jobstats.nodes SET class = CASE pattern WHEN 'c*' THEN 'compute' WHEN 'l*' THEN 'login' ELSE class END;
SELECT * FROM health_at(11540);

-- Users who name the jobs of others, from a twentieth of a day's bytes on, with the pair that has most of it: not where it is less.
SELECT account(12900, 13200, run('5001', 'alpha', 12960, 13100, 1000) || run('5002', 'alpha', 12960, 13100, 1001));
SELECT act('claims', 12960, 13060, VARIADIC ARRAY['5001:2000:n01', '5002:2000:n01', '5001:2000:n02', '5001:2001:n01']
    || ARRAY(SELECT '5001:1000:n' || n FROM generate_series(10, 85) n));
SELECT act('fewer', 12960, 13060, VARIADIC ARRAY['5001:2000:n01', '5002:2000:n01', '5001:2000:n02', '5001:2001:n01']
    || ARRAY(SELECT '5001:1000:n' || n FROM generate_series(10, 86) n));
CALL jobstats_maintain();
SELECT * FROM health_at(13060);
SELECT * FROM health_at(14500);

-- Most identifiers match no format.
SELECT act('bad', 14400, 14420, VARIADIC ARRAY(SELECT format('dd@%s@r01c%s', 1000 + n, n) FROM generate_series(1, 12) n));
CALL jobstats_maintain();
SELECT status, entries, remedy FROM jobstats.job_quality WHERE cluster = 'bad';

-- Maintenance records its input. Its findings expire after an hour.
SELECT DISTINCT step, problem FROM jobstats.maintenance WHERE step = 'advice';
BEGIN;
UPDATE jobstats.nodes SET class = 'login' WHERE pattern = 'c*';
SELECT count(*) FROM health_at(11540);
UPDATE jobstats.advice SET noted = now() - interval '61 minutes';
SELECT count(*) FROM jobstats.health WHERE states = '{nodes}';
ROLLBACK;

-- Clients write the user first, but the format has the job first: the remedy mends it.
SELECT act('swapped', 15840, 15860, VARIADIC ARRAY(SELECT format('%s:%s:n0%s', 1000 + n % 3, 6000 + n, n % 9) FROM generate_series(1, 12) n));
CALL jobstats_maintain();
SELECT * FROM health_at(15860);
SELECT remedy AS mend FROM health_at(15860) \gset
SELECT split_part(:'mend', 'order: ', 2) AS mend \gset
:mend
SELECT jobstats_reidentify();
SELECT * FROM health_at(15860);
