-- Those who could feed still can, and only what they could.
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
