-- As in the output of jobstats_setup().
\set QUIET on
CREATE EXTENSION pg_cron;
CREATE EXTENSION jobstats;
-- With TimescaleDB's scheduler, it lists those jobs instead.
SELECT coalesce(substring(jobstats_setup() FROM 'SELECT cron.schedule.*'),
    $$SELECT cron.schedule('jobstats', '*/10 * * * *', 'CALL jobstats_maintain()');$$) AS statement \gset
:statement
DO $$
BEGIN
    ASSERT jobstats_setup() ~ 'Maintenance is scheduled: job \d+ of pg_cron', 'the schedule is not seen';
END
$$;
