-- What eight feeders stored is what feeding in order stored.
SET search_path = public, texts;
DO $$
BEGIN
    ASSERT (SELECT count(*) FROM increments WHERE cluster = 'in order') > 1000, 'hardly anything was stored';
    ASSERT NOT EXISTS (SELECT FROM differences('in order', 'at once')), 'the clusters differ';
    ASSERT NOT EXISTS (SELECT FROM jobstats.rejects), 'text was rejected';
    ASSERT (SELECT count(*) = count(DISTINCT name) FROM jobstats.entries), 'an entry is stored twice';
END
$$;
SELECT format('%s texts fed by 8 at once, %s increments as in order',
    (SELECT count(*) FROM work), (SELECT count(*) FROM increments WHERE cluster = 'at once'));
