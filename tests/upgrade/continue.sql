-- The next text, by the writer of before: the increment is from the one that the old version was fed.
SELECT zero - interval '18 hours' AS due, texts.ost('gap-OST0000', texts.record('a.1', 107, 438272)) AS body FROM texts.clock \gset
SET ROLE "upgrade: writer";
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES ('gap', 'oss9', :'due', :'body');
RESET ROLE;
DO $$
DECLARE
    due timestamptz := (SELECT zero - interval '18 hours' FROM texts.clock);
    body text := texts.ost('any-OST0000');
BEGIN
    -- Who could feed everything can, and so says writers; who was bound is.
    ASSERT (SELECT array_agg((w.role::text, w.cluster, w.server, w.target)::text ORDER BY w.role::text) FROM jobstats.writers w)
        = '{"(\"\"\"upgrade: free writer\"\"\",,,)","(\"\"\"upgrade: writer\"\"\",gap,,)"}', 'the writers are others';
    SET LOCAL ROLE "upgrade: free writer";
    INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES ('any', 'oss9', due, body);
    SET LOCAL ROLE "upgrade: member";
    BEGIN
        INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES ('any', 'oss9', due, body);
        RAISE 'a member of a bound role feeds another cluster';
    EXCEPTION WHEN insufficient_privilege THEN
        NULL;
    END;
    RESET ROLE;
    ASSERT (SELECT sum(i.write) = 6 FROM jobstats.increments i JOIN jobstats.targets t USING (target_id), texts.clock
        WHERE t.name = 'gap-OST0000' AND i."time" > zero - interval '19 hours'), 'the increment is wrong';
END
$$;
-- Rights that were given by other statements than functions of jobstats are completed.
SELECT jobstats_setup() IS NOT NULL AS ready \gset
-- Summaries that the old version stored are read: 3, and then 3 after a reset. The same readings are the same bytes.
DO $$
BEGIN
    ASSERT (SELECT sum(increase) = 6 FROM (
        SELECT jobstats_increase(counter, lag(counter) OVER (ORDER BY bucket)) AS increase FROM public.counters
    ) buckets), 'the increases are wrong';
    ASSERT (SELECT jobstats_rollup(counter) = (
        SELECT jobstats_counter_agg(t, v)
        FROM (VALUES (timestamptz '2025-11-03 08:00', 5), ('2025-11-03 08:10', 8), ('2025-11-03 08:20', 3)) AS r (t, v)
    ) FROM public.counters), 'stored summaries have other bytes';
    ASSERT (SELECT jobstats_increase(jobstats_counter_agg(t, v, NULL, 10)) = 8
        FROM (VALUES (timestamptz '2025-11-03 08:00', 5), ('2025-11-03 08:10', 3)) AS r (t, v)), 'the counter does not wrap';
END
$$;
