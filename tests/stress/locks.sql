-- A wait for a lock may time out in the moment in which the lock is granted: the session does not keep it.
SET lock_timeout = '3ms';
DO $$
DECLARE
    began timestamptz := clock_timestamp();
BEGIN
    WHILE clock_timestamp() < began + interval '3 s' LOOP
        BEGIN
            PERFORM jobstats_internal.hold_writers(regclass 'jobstats.locks');
        EXCEPTION WHEN lock_not_available THEN
            NULL;
        END;
        PERFORM jobstats_internal.end_maintenance();
        COMMIT;
        ASSERT NOT EXISTS (SELECT FROM pg_locks l WHERE l.pid = pg_backend_pid() AND l.relation = regclass 'jobstats.locks' AND l.mode = 'ShareLock'),
            'the session still holds the lock';
    END LOOP;
END
$$;
