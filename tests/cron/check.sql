-- pg_cron has called it, and it has come to its end.
\set QUIET on
DO $$
BEGIN
    FOR tries IN 1..600 LOOP
        EXIT WHEN EXISTS (SELECT FROM jobstats.maintenance WHERE step = 'all');
        PERFORM pg_sleep(1);
        -- pg_cron up to 1.6.7 loses a schedule that follows many changes of the catalog, such as CREATE EXTENSION.
        PERFORM cron.alter_job(jobid, schedule => '* * * * *') FROM cron.job WHERE jobname = 'jobstats';
        COMMIT;
    END LOOP;
    ASSERT EXISTS (SELECT FROM jobstats.maintenance WHERE step = 'all' AND problem IS NULL), 'it was not called, or had a problem';
    ASSERT NOT EXISTS (SELECT FROM cron.job_run_details WHERE status = 'failed'), 'a call failed';
END
$$;
SELECT cron.unschedule('jobstats') \g /dev/null
SELECT format('pg_cron called jobstats_maintain() %s times', count(*)) FROM jobstats.maintenance WHERE step = 'all';
