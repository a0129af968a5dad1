-- As jobstats_setup() says.
\set QUIET on
CREATE EXTENSION pg_cron;
CREATE EXTENSION jobstats;
-- Where TimescaleDB has jobs of its own, it names these instead.
SELECT coalesce(substring(jobstats_setup() FROM 'SELECT cron.schedule.*'),
    $$SELECT cron.schedule('jobstats', '*/10 * * * *', 'CALL jobstats_maintain()');$$) AS statement \gset
:statement
DO $$
BEGIN
    ASSERT jobstats_setup() ~ 'Maintenance is scheduled: job \d+ of pg_cron', 'the schedule is not seen';
END
$$;
