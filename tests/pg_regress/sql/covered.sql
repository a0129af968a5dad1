-- jobstats.covered has the times whose job accounting was read, whatever the order of texts.
\i store.sql
\set ECHO all
\pset null '(null)'
SET timezone = 'UTC';
-- Minutes of an hour.
CREATE FUNCTION minute(m numeric) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
SELECT timestamptz '2025-11-03 12:00:00+00' + m * interval '1 minute'
$$;
CREATE FUNCTION span(since numeric, until numeric) RETURNS tstzrange LANGUAGE sql IMMUTABLE AS $$
SELECT tstzrange(minute(since), minute(until))
$$;
CREATE VIEW shown AS
SELECT cluster, source, round(extract(epoch FROM since - minute(0)) / 60, 1) AS since, round(extract(epoch FROM until - minute(0)) / 60, 1) AS until
FROM jobstats.covered ORDER BY 1, 2, 3;
-- A job that ran until a minute, as PBS has it.
CREATE FUNCTION texts.pbs(VARIADIC ends integer[]) RETURNS text LANGUAGE sql STABLE AS $$
SELECT string_agg(format(E'%s;E;%s.pbs1;user=ada group=staff ctime=%s start=%s end=%s Exit_status=0\n', to_char(minute(m), 'MM/DD/YYYY HH24:MI:SS'), m,
    extract(epoch FROM minute(m - 5))::bigint, extract(epoch FROM minute(m - 4))::bigint, extract(epoch FROM minute(m))::bigint), '' ORDER BY m)
FROM unnest(ends) m
$$;
\set none 'JobIDRaw\x1fSubmit\x1fStart\x1fEnd\n'

-- Texts of sacct cover the span that the sender gives: overlapping spans become one, a gap remains.
INSERT INTO jobstats.feed (cluster, server, "time", body, source, covers) VALUES
    ('c', 's1', minute(20.1), E:'none', 'slurm', span(0, 20)), ('c', 's1', minute(25.1), E:'none', 'slurm', span(5, 25)),
    ('c', 's1', minute(50.1), E:'none', 'slurm', span(30, 50)), ('d', 's1', minute(50.1), E:'none', 'slurm', span(40, 50)),
    ('c', 's1', minute(51), E:'none', 'slurm', NULL);
TABLE shown;
-- The text that fills it comes last. A gap of less than a minute does not count.
INSERT INTO jobstats.feed (cluster, server, "time", body, source, covers) VALUES ('c', 's1', minute(29.9), E:'none', 'slurm', span(25.5, 29.9));
TABLE shown;
-- Times after the reading, and after now, are not covered.
INSERT INTO jobstats.feed (cluster, server, "time", body, source, covers) VALUES
    ('e', 's1', minute(10), E:'none', 'slurm', span(0, 100)), ('e', 's1', minute(11), E:'none', 'slurm', span(60, 100)),
    ('e', 's1', minute(12), E:'none', 'slurm', 'empty');
INSERT INTO jobstats.feed (cluster, server, body, source, covers) VALUES
    ('f', 's1', E:'none', 'slurm', tstzrange(now() - interval '1 hour', now() + interval '10 years'));
SELECT * FROM shown WHERE cluster = 'e';
SELECT until <= clock_timestamp() AS is_past FROM jobstats.covered WHERE cluster = 'f';
SELECT covers FROM jobstats.texts WHERE cluster = 'e' ORDER BY "time";
-- A rejected text covers no time; nor does a text of lctl or of users.
INSERT INTO jobstats.feed (cluster, server, "time", body, source, covers) VALUES ('g', 's1', minute(20), E'none\n', 'slurm', span(0, 20));
INSERT INTO jobstats.feed (cluster, server, "time", body, source, covers) VALUES ('g', 's1', minute(20), E'ada:x:1:1::/:\n', 'passwd', span(0, 20));
INSERT INTO jobstats.feed (cluster, server, body, covers) VALUES ('g', 's1', ost('fs-OST0000', record('a.1', 1, 4096)), span(0, 20));
SELECT * FROM shown WHERE cluster = 'g';
-- Spans without an end.
INSERT INTO jobstats.feed (server, body, source, covers) VALUES ('s1', E:'none', 'slurm', tstzrange(now(), NULL));
\echo :LAST_ERROR_SQLSTATE
INSERT INTO jobstats.feed (server, body, source, covers) VALUES ('s1', E:'none', 'slurm', tstzrange('-infinity', now()));
\echo :LAST_ERROR_SQLSTATE
INSERT INTO jobstats.feed (server, body, source, covers) VALUES ('s1', E:'none', 'slurm', '[2025-11-03 12:00,2025-11-03 11:00)');
\echo :LAST_ERROR_SQLSTATE

-- A file that grows covers the time from its first record on, as long as no piece of it is missing.
INSERT INTO jobstats.feed (cluster, server, "time", body, source) VALUES
    ('hpc', 'p1', minute(30), pbs(10, 20), 'pbs'), ('hpc', 'p1', minute(60), pbs(40, 50), 'pbs'), ('hpc', 'p2', minute(60), pbs(55), 'pbs');
SELECT * FROM shown WHERE source = 'pbs';
SELECT server, covers FROM jobstats.texts WHERE source = 'pbs' ORDER BY server, "time";
-- The same pieces in another order, one of them twice; pending reasons do not count.
INSERT INTO jobstats.feed (cluster, server, "time", body, source) VALUES
    ('hpc2', 'p2', minute(60), pbs(55), 'pbs'), ('hpc2', 'p1', minute(60), pbs(40, 50), 'pbs'),
    ('hpc2', 'p1', minute(40), E'11/03/2025 12:35:00;Q;77.pbs1;queue=workq\n', 'pbs'), ('hpc2', 'p1', minute(30), pbs(10, 20), 'pbs');
INSERT INTO jobstats.feed (cluster, server, "time", body, source) VALUES ('hpc2', 'p1', minute(30), pbs(10, 20), 'pbs'), ('hpc2', 'p1', minute(61), pbs(10, 20), 'pbs');
SELECT * FROM shown WHERE source = 'pbs';
-- The end of the last piece is known for longer than its text.
UPDATE jobstats.texts SET received = now() - interval '3 days';
CALL jobstats_maintain();
SELECT cluster, server, body, covers FROM jobstats.texts WHERE source = 'pbs' ORDER BY cluster, server;
INSERT INTO jobstats.feed (cluster, server, "time", body, source) VALUES ('hpc', 'p1', minute(3000), pbs(2990), 'pbs');
SELECT * FROM shown WHERE cluster = 'hpc';

-- Was accounting of a time read?
SELECT jobstats_internal.covers('c', 'slurm', minute(0), minute(50)) AS all_of_it, jobstats_internal.covers('c', 'slurm', minute(0), minute(51)) AS too_long,
    jobstats_internal.covers('c', 'pbs', minute(0), minute(1)) AS other_source, jobstats_internal.covers('c', NULL, minute(0), minute(1)) AS any_source,
    jobstats_internal.covers(NULL, NULL, minute(2900), minute(2901)) AS anywhere, jobstats_internal.covers('x', NULL, minute(0), minute(1)) AS nowhere;
-- Reading texts again gives the same spans.
CREATE TABLE before AS TABLE jobstats.covered;
SELECT count(*) > 0 AS read FROM jobstats_reprocess(minute(2000), minute(4000), source => NULL);
SELECT count(*) AS changed FROM ((TABLE before EXCEPT TABLE jobstats.covered) UNION ALL (TABLE jobstats.covered EXCEPT TABLE before)) d;
-- Where jobs are forgotten, so is that they were read.
UPDATE jobstats.settings SET jobs_retention = now() - minute(35);
CALL jobstats_maintain();
SELECT cluster, source, since > minute(34) AS is_cut, since < until AS is_span FROM jobstats.covered WHERE cluster IN ('c', 'd', 'e', 'hpc') ORDER BY 1, 2;
-- Accounting that has stopped shows in health.
SELECT cluster, target, remedy FROM jobstats.health WHERE states = '{accounting}' ORDER BY cluster, remedy;
