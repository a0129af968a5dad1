-- The next text, by the writer of before: the increment is from the one that the old version was fed.
SELECT zero - interval '18 hours' AS due, texts.ost('gap-OST0000', texts.record('a.1', 107, 438272)) AS body FROM texts.clock \gset
SET ROLE "upgrade: writer";
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES ('gap', 'oss9', :'due', :'body');
RESET ROLE;
DO $$
BEGIN
    ASSERT (SELECT sum(i.write) = 6 FROM jobstats.increments i JOIN jobstats.targets t USING (target_id), texts.clock
        WHERE t.name = 'gap-OST0000' AND i."time" > zero - interval '19 hours'), 'the increment is wrong';
END
$$;
