-- Steps lie on multiples of their width, on the clocks of the session's time zone, wherever a window begins.
\getenv source PG_ABS_SRCDIR
\set reading :source '/include/reading.sql'
\set ECHO none
\i :reading
\set ECHO all
\pset null '(null)'

-- A target that writes once a second from October 2025 to April 2026.
DO $$ BEGIN
    PERFORM observe('', 'scratch-OST0000', 'oss1', ARRAY(SELECT generate_series(timestamptz '2025-10-01', '2026-04-30', '1 hour')));
    PERFORM act('', 'scratch-OST0000', 'cp.1000', hour, hour + interval '1 hour', '{"write": 3600}')
        FROM generate_series(timestamptz '2025-10-01', '2026-04-29 23:00', '1 hour') AS hour;
END $$;
CREATE FUNCTION steps(since timestamptz, until timestamptz, step interval)
RETURNS TABLE ("time" timestamptz, seconds double precision, writes double precision) LANGUAGE sql AS $$
SELECT r."time", r.seconds, round(r.rate * r.seconds) FROM jobstats_rates(since, until, 'write', 'target', step) r
$$;

-- The first step begins where the window does, the last one ends where the window does.
SELECT * FROM steps('2025-11-03 08:07:30.000001', '2025-11-03 11:02', '1 hour');
SELECT * FROM steps('2025-11-03 08:07:30', '2025-11-03 08:07:31', '1 hour');
-- Multiples are counted from a Monday: 69 times 7 minutes after midnight it is 08:03.
SELECT * FROM steps('2025-11-03 08:00', '2025-11-03 08:20', '7 minutes');
SELECT * FROM steps('2025-11-03 00:00', '2025-11-03 12:00', '5 hours');
-- So adjacent windows have the steps of the window of both, but for the one in which they meet.
SELECT * FROM steps('2025-11-03 08:00', '2025-11-03 09:00', '13 minutes 7 seconds')
EXCEPT
(SELECT * FROM steps('2025-11-03 08:00', '2025-11-03 08:31:59.5', '13 minutes 7 seconds')
UNION SELECT * FROM steps('2025-11-03 08:31:59.5', '2025-11-03 09:00', '13 minutes 7 seconds'));

-- Where clocks are half an hour apart from others, hours begin when these clocks show full hours.
SET TimeZone = 'Asia/Kolkata';
SELECT * FROM steps('2025-11-03 08:00+00', '2025-11-03 10:00+00', '1 hour');
SELECT * FROM steps('2025-11-03 08:00+00', '2025-11-04 20:00+00', '1 day');

-- Days have 23 or 25 hours where clocks change; hours do not care.
SET TimeZone = 'Europe/Helsinki';
SELECT * FROM steps('2025-10-25 18:00', '2025-10-28 06:00', '1 day');
SELECT * FROM steps('2026-03-28 18:00', '2026-03-30 06:00', '1 day');
SELECT * FROM steps('2026-03-28 21:00', '2026-03-29 14:00', '6 hours');
-- Of two days and of a day and a half, counted from a Monday.
SELECT * FROM steps('2026-03-27', '2026-04-01', '2 days');
SELECT * FROM steps('2026-03-27', '2026-04-01', '1 day 12 hours');
-- Where clocks go from midnight to one o'clock, the day begins at one.
SET TimeZone = 'Asia/Beirut';
SELECT * FROM steps('2026-03-28 12:00', '2026-03-30 12:00', '1 day');
SET TimeZone = 'UTC';

-- Weeks begin on Mondays, months, quarters and years on their first day.
SELECT to_char("time", 'Dy YYYY-MM-DD HH24:MI') AS "time", seconds / 86400 AS days FROM steps('2025-11-05 12:00', '2025-11-20', '1 week');
SELECT "time", seconds / 86400 AS days FROM steps('2025-11-15', '2026-03-10', '1 month');
SELECT "time", seconds / 86400 AS days FROM steps('2025-11-15', '2026-04-10', '3 months');
SELECT "time", seconds / 86400 AS days FROM steps('2025-11-15', '2026-04-10', '1 year');
SET TimeZone = 'Europe/Helsinki';
SELECT "time", seconds / 3600 AS hours FROM steps('2026-02-15', '2026-04-10', '1 month');
SET TimeZone = 'UTC';
-- How often a month and a day fit into a year, nobody knows.
SELECT * FROM steps('2025-11-15', '2026-04-10', '1 month 1 day');
SELECT * FROM steps('2025-11-15', '2026-04-10', '1 month 1 hour');
DO $$ BEGIN
    PERFORM jobstats_densities('2025-11-15', '2026-04-10', step => '1 month 1 day');
EXCEPTION WHEN invalid_parameter_value THEN
    RAISE NOTICE '% %', SQLSTATE, SQLERRM;
END $$;

-- Densities have these steps, too.
SELECT * FROM jobstats_densities('2025-11-03 08:20', '2025-11-03 10:30', 'write', 'uid', step => '1 hour');
-- Steps at the ends of time.
SELECT count(*) FROM steps('4713-11-24 00:00:01 BC', '4713-11-26 BC', '1 day');
SET client_min_messages = warning;
SELECT count(*) FROM steps('2025-11-03 08:00', '294246-01-01', '1000 years');
RESET client_min_messages;
SELECT count(*) FROM steps('2025-11-03 08:00', '2025-11-04', '290000 years');
