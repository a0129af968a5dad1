COMMENT ON @kind@ jobstats.rollup_@name@ IS
'Sums of increments over @width@, up to rollups.refreshed and but for the spans in dirty; view increments_@name@ is up to date.';
COMMENT ON COLUMN jobstats.rollup_@name@.bucket IS
'A microsecond after the start of the bucket, which does not belong to it; its end does.';
COMMENT ON VIEW jobstats.increments_@name@ IS
'Sums of increments over @width@, by target and entry, exact at any moment. For speed, ask with a condition on bucket.';
COMMENT ON COLUMN jobstats.increments_@name@.first IS 'Start of the first increment.';
COMMENT ON COLUMN jobstats.increments_@name@.last IS
'When it was last active: as the server says, else the end of the last increment.';
COMMENT ON COLUMN jobstats.increments_@name@.resets IS 'How often counters restarted.';
COMMENT ON VIEW jobstats.rates_@name@ IS
'Means over @width@ with their dimensions: every operation divided by the seconds of its bucket. For speed, ask with a condition on bucket.'
