-- jobstats_job_usage() finds where a job begins and ends through the rollups, and agrees with increments.
\i store.sql
\set ECHO all
\set VERBOSITY terse
SET client_min_messages = warning;
SELECT jobstats_setup(raw_retention => '300 days', retention => '300 days') IS NOT NULL AS ready;
SELECT date_bin('1 day', now(), 'epoch') - interval '100 days' AS zero \gset
CREATE FUNCTION day(days numeric) RETURNS timestamptz LANGUAGE sql IMMUTABLE RETURN timestamptz :'zero' + days * interval '1 day';

-- Jobs of all lengths, on a target that is read every 14 minutes and on one read every 22, except for ten hours of the second day. 4 is
-- idle for days; 5 is active while the second target is not read; 6 is on two nodes.
CREATE TABLE jobs (id text, since numeric, until numeric);
INSERT INTO jobs VALUES ('1:1000:n1', 0.51, 3.27), ('2:1000:n1', 1.041, 1.0455), ('3:1000:n1', 1, 2), ('4:1000:n1', 0.2, 0.25),
    ('4:1000:n1', 3.3, 3.35), ('5:1000:n1', 1.45, 1.55), ('6:1000:n1', 0.3, 0.9), ('6:1000:n2', 2.1, 2.9);
CREATE FUNCTION feed(target text, "time" timestamptz) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', feed."time", ost(target, VARIADIC array_agg(record(id, seconds, seconds * 4096) ORDER BY id))
FROM (
    SELECT id, sum(floor(extract(epoch FROM greatest(least(feed."time", day(until)), day(since)) - day(since)))) AS seconds
    FROM jobs GROUP BY id
) j
$$;
SELECT count(*) FROM generate_series(day(0), day(4), interval '14 minutes') t, feed('fs-OST0000', t);
SELECT count(*) FROM generate_series(day(0), day(4), interval '22 minutes') t, feed('fs-OST0001', t)
WHERE t NOT BETWEEN day(1.3) AND day(1.7);

CREATE TABLE questions (job text, since timestamptz, until timestamptz);
INSERT INTO questions SELECT DISTINCT split_part(id, ':', 1) FROM jobs;
INSERT INTO questions VALUES ('1', day(1.2), NULL), ('1', NULL, day(1.2)), ('1', day(1.2), day(2.2)), ('1', day(3.5), NULL),
    ('1', NULL, day(0.3)), ('4', day(1), NULL), ('4', NULL, day(1)), ('4', day(1), day(2)), ('5', NULL, day(1.5)), ('0', NULL, NULL);
CREATE VIEW answers AS
SELECT q.job, q.since, q.until, to_jsonb(a) AS answer FROM questions q CROSS JOIN LATERAL (SELECT * FROM jobstats_job_usage(q.job, since => q.since, until => q.until) r, dims(r.labels)) a;
CREATE TABLE before AS TABLE answers;
SELECT job, count(*) FILTER (WHERE since IS NULL AND until IS NULL) AS whole, count(*) AS rows FROM before GROUP BY job ORDER BY job;
CREATE VIEW changed AS (TABLE before EXCEPT ALL TABLE answers) UNION ALL (TABLE answers EXCEPT ALL TABLE before);

CALL jobstats_maintain();
TABLE changed;

-- Of a job of days, only what lies around its beginning and end is read from increments.
BEGIN;
DELETE FROM jobstats.increments i WHERE i."time" > day(0.6) AND i."time" <= day(3.2);
SELECT * FROM changed WHERE job = '1' AND since IS NULL AND until IS NULL;
ROLLBACK;

-- Late text begins a job earlier; until the rollups include it, increments are read.
DELETE FROM jobs WHERE id LIKE '3%';
INSERT INTO jobs VALUES ('3:1000:n1', 0.99, 2);
SELECT feed('fs-OST0002', day(0.98)), feed('fs-OST0002', day(0.995)), feed('fs-OST0002', day(1.01));
DROP TABLE before CASCADE;
CREATE TABLE before AS TABLE answers;
SELECT min((answer ->> 'first')::timestamptz) = day(0.98) AS earlier FROM before WHERE job = '3';
CREATE VIEW changed AS (TABLE before EXCEPT ALL TABLE answers) UNION ALL (TABLE answers EXCEPT ALL TABLE before);
CALL jobstats_maintain();
TABLE changed;

-- Where only hours are kept, a job is its hours: it did the same.
CREATE VIEW totals AS SELECT job, answer ->> 'target' AS target, answer ->> 'operation' AS operation, answer ->> 'total' AS total
FROM answers WHERE since IS NULL AND until IS NULL;
CREATE TABLE totals_before AS TABLE totals;
SELECT jobstats_setup(raw_retention => '1 day', retention => '50 days', rollup_10m_retention => '60 days') IS NOT NULL AS ready;
CALL jobstats_maintain();
SELECT count(*) FROM jobstats.increments;
SELECT count(*) > 10 AS enough FROM totals;
(TABLE totals_before EXCEPT ALL TABLE totals) UNION ALL (TABLE totals EXCEPT ALL TABLE totals_before);
