-- What eight feeders stored is what feeding in order stored, and rollups hold it.
\set QUIET on
SET search_path = public, texts;
UPDATE jobstats.settings SET refresh_lag = '0';
CALL jobstats_maintain();
CALL jobstats_maintain();
DO $$
BEGIN
    ASSERT (SELECT count(*) FROM increments WHERE cluster = 'in order') > 1000, 'hardly anything was stored';
    ASSERT NOT EXISTS (SELECT FROM differences('in order', 'at once')), 'the clusters differ';
    ASSERT NOT EXISTS (SELECT FROM jobstats.dirty), 'rollups are behind';
    ASSERT public.differences('rollup_') = 0, 'rollups do not hold what increments say';
    ASSERT NOT EXISTS (SELECT FROM wholes_differ), 'sums of whole targets are not those of their increments';
    ASSERT NOT EXISTS (SELECT FROM jobstats.rejects), 'text was rejected';
    ASSERT (SELECT count(*) = count(DISTINCT name) FROM jobstats.entries), 'an entry is stored twice';
END
$$;
SELECT format('%s texts fed by 8 at once, %s increments as in order, rollups computed by %s calls meanwhile',
    (SELECT count(*) FROM work), (SELECT count(*) FROM increments WHERE cluster = 'at once'),
    (SELECT count(*) FROM jobstats.maintenance WHERE step = 'all') - 2);
