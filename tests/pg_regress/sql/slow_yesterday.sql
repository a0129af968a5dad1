-- Why was it slow yesterday at 14:00? From the symptom to the user, a statement for each step.
\getenv source PG_ABS_SRCDIR
\set reading :source '/include/reading.sql'
\set ECHO none
\i :reading
\set ECHO all
\set VERBOSITY terse
-- One transaction, so that yesterday stays the same day.
BEGIN;
CREATE FUNCTION world.clock(minute numeric) RETURNS timestamptz LANGUAGE sql STABLE AS $$
SELECT timestamptz 'yesterday 14:00' + minute * interval '1 minute'
$$;
INSERT INTO jobstats.users VALUES (1002, 'bo'), (1004, 'cai');
DO $$ BEGIN
    PERFORM observe('', target, server, ARRAY(SELECT clock(minute) FROM generate_series(-180, 180, 2) AS minute))
    FROM (VALUES ('scratch-MDT0000', 'mds1'), ('scratch-OST0000', 'oss1'), ('scratch-OST0001', 'oss1')) AS targets (target, server);
    -- Cai's job 80500 writes from 13:00 to 16:00, twice as much to one OST, and opens a file a second.
    PERFORM act('', 'scratch-OST0000', '80500:1004:n120', clock(minute), clock(minute + 10),
        '{"write_bytes": 25165824000, "write": 6000, "write_usecs": 120000000}')
    FROM generate_series(-60, 110, 10) AS minute;
    PERFORM act('', 'scratch-OST0001', '80500:1004:n120', clock(minute), clock(minute + 10),
        '{"write_bytes": 12582912000, "write": 3000, "write_usecs": 60000000}')
    FROM generate_series(-60, 110, 10) AS minute;
    PERFORM act('', 'scratch-MDT0000', '80500:1004:n120', clock(minute), clock(minute + 10), '{"open": 600, "open_usecs": 60000}')
    FROM generate_series(-60, 110, 10) AS minute;
    -- Bo's job 80612 removes files from 14:10 to 14:40, on two nodes.
    PERFORM act('', 'scratch-MDT0000', format('80612:1002:n%s', node), clock(minute), clock(minute + 10),
        '{"unlink": 300000, "unlink_usecs": 450000000, "getattr": 150000, "getattr_usecs": 30000000}')
    FROM generate_series(10, 30, 10) AS minute, generate_series(201, 202) AS node;
END $$;

-- Which target was busy?
SELECT target,
    round((max(rate) FILTER (WHERE "time" = 'yesterday 13:00'))::numeric, 2) AS "13 to 14 h",
    round((max(rate) FILTER (WHERE "time" = 'yesterday 14:00'))::numeric, 2) AS "14 to 15 h",
    round((max(rate) FILTER (WHERE "time" = 'yesterday 15:00'))::numeric, 2) AS "15 to 16 h",
    round(min(coverage)::numeric, 2) AS coverage
FROM jobstats_rates('yesterday 13:00', 'yesterday 16:00', '{service_time}', '{target}', '1 hour')
GROUP BY target
ORDER BY "14 to 15 h" DESC NULLS LAST
LIMIT 10;

-- Who kept it busy?
SELECT rank, job, uid, user_name, round(rate::numeric, 2) AS "in service", round(100 * share) AS percent
FROM jobstats_top('yesterday 14:00', 'yesterday 15:00', 'service_time', '{job,uid,user_name}', 3, target => '{scratch-MDT0000}');

-- With which operations?
SELECT operation, total AS calls, jobstats_format(per_call, operation, 'per_call') AS "per call"
FROM jobstats_totals('yesterday 14:00', 'yesterday 15:00', by => '{job}', job => '{80612}', target => '{scratch-MDT0000}')
WHERE operation <> 'metadata'
ORDER BY calls DESC;

-- When did the job do it?
SELECT to_char("time", 'HH24:MI') AS "from", operation, jobstats_format(rate, operation) AS rate
FROM jobstats_rates('yesterday 12:00', 'yesterday 17:00', '{unlink}', '{job}', '10 minutes', job => '{80612}')
ORDER BY "time";

-- An answer as CSV.
\copy (SELECT rank, uid, total AS bytes FROM jobstats_top('yesterday 13:00', 'yesterday 16:00', 'write_bytes', '{uid}')) TO STDOUT CSV HEADER
ROLLBACK;
