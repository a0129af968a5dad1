-- A store of the version :version (of this one where that is empty), with some rights, something built on top of it, and a
-- target that was not read for ten hours before the hour :zero.
SET client_min_messages = warning;
CREATE EXTENSION jobstats :version;
SELECT jobstats_setup(raw_retention => '10 days') IS NOT NULL AS ready \gset
DO $$
BEGIN
    CREATE ROLE "upgrade: reader";
    CREATE ROLE "upgrade: writer";
    CREATE ROLE "upgrade: free writer";
    CREATE ROLE "upgrade: member" IN ROLE "upgrade: writer";
EXCEPTION WHEN duplicate_object THEN
    NULL;
END
$$;
SELECT jobstats_grant_reader('upgrade: reader'), jobstats_grant_writer('upgrade: writer', 'gap'),
    jobstats_grant_writer('upgrade: free writer') AS free \gset
-- It may feed what the role may feed that it is a member of.
GRANT INSERT ON jobstats.feed TO "upgrade: member";
INSERT INTO jobstats.entry_formats VALUES (0, '%j.%e', NULL);
-- As version 0.1.0 has it.
UPDATE jobstats.entry_formats SET node_label = 'login' WHERE format = '%e.%u';
INSERT INTO jobstats.users VALUES (1001, 'anna');
CREATE TABLE public.counters AS
SELECT bucket, public.jobstats_counter_agg(t, v) AS counter
FROM (VALUES (1, timestamptz '2025-11-03 08:00', 5), (1, '2025-11-03 08:10', 8), (2, '2025-11-03 08:20', 3)) AS r (bucket, t, v)
GROUP BY bucket;
\ir mine.sql

\ir ../pg_regress/include/texts.sql
CREATE TABLE texts.clock AS SELECT timestamptz :'zero' AS zero;
CREATE FUNCTION texts.feed(hours numeric, calls numeric) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT 'gap', 'oss9', zero - hours * interval '1 hour', texts.ost('gap-OST0000', texts.record('a.1', calls, calls * 4096))
FROM texts.clock
$$;
SELECT texts.feed(30, 0), texts.feed(20, 100), texts.feed(19, 101) \gset
