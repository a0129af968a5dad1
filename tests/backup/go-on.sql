-- Writers still have exactly their privileges.
DO $$
DECLARE
    due timestamptz := (SELECT max("time") + interval '10 minutes' FROM jobstats.observations);
    texts text[] := ARRAY(
        SELECT r.body FROM jobstats.raw_text r JOIN jobstats.targets t USING (target_id)
        WHERE t.cluster = 'small' ORDER BY r."time" DESC, t.name LIMIT 1);
    server text := (SELECT r.server FROM jobstats.raw r JOIN jobstats.targets t USING (target_id)
        WHERE t.cluster = 'small' ORDER BY r."time" DESC, t.name LIMIT 1);
BEGIN
    SET LOCAL ROLE "backup: writer";
    INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES ('small', server, due, texts[1]);
    BEGIN
        INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES ('another', server, due, texts[1]);
        RAISE 'the writer is bound no more';
    EXCEPTION WHEN insufficient_privilege THEN
        NULL;
    END;
    RESET ROLE;
    ASSERT (SELECT max("time") = due FROM jobstats.observations), 'the text was not stored';
    SET LOCAL ROLE "backup: reader";
    ASSERT (SELECT count(*) > 0 FROM public.jobstats_top(now() - interval '5 hours', now())), 'the reader reads nothing';
    RESET ROLE;
    SET LOCAL ROLE "backup: guest";
    BEGIN
        PERFORM FROM jobstats.rates;
        RAISE 'the guest may read all';
    EXCEPTION WHEN insufficient_privilege THEN
        NULL;
    END;
END
$$;
-- A continuous aggregate of counters is refreshed: 25 until half past eight, and 25 since.
SELECT coalesce(current_setting('timescaledb.license', true) = 'timescale', false) AS community \gset
\if :community
INSERT INTO reports.hosts VALUES ('2025-11-03 08:35', 'a', 60);
CALL public.refresh_continuous_aggregate('reports.received_10m', '2025-11-03 08:00', '2025-11-03 09:00');
CALL public.refresh_continuous_aggregate('reports.received_1h', '2025-11-03 08:00', '2025-11-03 09:00');
DO $$
BEGIN
    ASSERT (SELECT sum(received) = 50 AND count(*) = 4 FROM reports.received), 'the increases are wrong';
    ASSERT (SELECT public.jobstats_counter_increase(counter) = 50 FROM reports.received_1h), 'the increase of the hour is wrong';
END
$$;
\endif
