-- Reading functions read the coarsest rollup that gives the same answer.
\i store.sql
\set ECHO all
SELECT jobstats_setup(raw_retention => '100 years', retention => '100 years') IS NOT NULL AS ready;

-- Two targets that are read every 17 and every 23 minutes for four days, one of them not at all for a while.
CREATE FUNCTION feed(target text, "time" timestamptz) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', feed."time", ost(target, record('a.1', seconds, seconds * 4096), record('b.2', seconds / 1000, seconds),
    record('c.3', seconds / 7, seconds * 13))
FROM (SELECT extract(epoch FROM feed."time" - '2025-10-20')::bigint) s (seconds)
$$;
SELECT count(feed('fs-OST0000', t))
FROM generate_series(timestamptz '2025-10-24 00:07', '2025-10-28 12:00', interval '17 minutes') t;
SELECT count(feed('fs-OST0001', t))
FROM generate_series(timestamptz '2025-10-24 01:00', '2025-10-28 12:00', interval '23 minutes') t
WHERE t NOT BETWEEN '2025-10-26 03:03' AND '2025-10-26 11:11' AND t NOT BETWEEN '2025-10-27 03:00' AND '2025-10-27 06:00';

-- Questions: windows at full days, at odd times, with steps of all sizes, in another time zone.
CREATE TABLE questions (n integer GENERATED ALWAYS AS IDENTITY, since timestamptz, until timestamptz, step interval, zone text);
INSERT INTO questions (since, until, step, zone) VALUES
    ('2025-10-24', '2025-10-29', NULL, 'UTC'),
    ('2025-10-24', '2025-10-29', '1 day', 'UTC'),
    ('2025-10-24 00:00+03', '2025-10-29 00:00+02', '1 day', 'Europe/Helsinki'),
    ('2025-10-24 12:34:56.789', '2025-10-28 03:21', NULL, 'UTC'),
    ('2025-10-24 12:34:56.789', '2025-10-28 03:21', '1 day', 'UTC'),
    ('2025-10-25', '2025-10-26', '1 hour', 'UTC'),
    ('2025-10-25', '2025-10-27', '1 hour 20 minutes', 'UTC'),
    ('2025-10-25 00:05', '2025-10-26', '1 hour', 'UTC'),
    ('2025-10-26 02:00', '2025-10-26 13:00', '10 minutes', 'UTC'),
    ('2025-10-26 02:00', '2025-10-26 13:00', '7 minutes', 'UTC'),
    ('2025-10-26 04:30', '2025-10-26 05:20', NULL, 'UTC');
CREATE FUNCTION answers() RETURNS TABLE (n integer, function text, answer text) LANGUAGE plpgsql AS $$
DECLARE
    q questions;
BEGIN
    FOR q IN SELECT * FROM questions ORDER BY questions.n LOOP
        PERFORM set_config('timezone', q.zone, true);
        n := q.n;
        FOR function, answer IN
            SELECT 'rates', r::text FROM jobstats_rates(q.since, q.until, step => q.step) r
            UNION ALL
            SELECT 'rates of entries', r::text FROM jobstats_rates(q.since, q.until, 'write_bytes', 'workload,target', q.step) r
            UNION ALL
            SELECT 'totals', r::text FROM jobstats_totals(q.since, q.until, filter => 'uid=1') r
            UNION ALL
            SELECT 'top', r::text FROM jobstats_top(q.since, q.until, 'write_bytes', by => 'uid,workload', filter => 'target=*OST0001') r
            UNION ALL
            SELECT 'summary', r::text FROM jobstats_summary(q.since, q.until, 'workload') r
        LOOP
            RETURN NEXT;
        END LOOP;
    END LOOP;
    PERFORM set_config('timezone', 'UTC', true);
END
$$;
CREATE TABLE before AS SELECT * FROM answers();
SELECT n, count(*) FROM before GROUP BY n ORDER BY n;
CALL jobstats_maintain();
CREATE TABLE after AS SELECT * FROM answers();
(TABLE before EXCEPT ALL TABLE after) UNION ALL (TABLE after EXCEPT ALL TABLE before);
