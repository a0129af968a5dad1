-- After a conversion with concurrent feeders: lists rows and storage.
SET search_path = public, texts;
DO $$
BEGIN
    -- What grows, and the rollups.
    ASSERT (SELECT count(*) = (SELECT count(*) FROM jobstats_internal.growing_tables()) + 14 FROM timescaledb_information.hypertables h
        WHERE h.hypertable_schema = 'jobstats'), 'some are no hypertables';
    ASSERT NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = 'jobstats'::regnamespace AND relname ~ '^(old|new)_'),
        'something is left behind';
    -- All can be published.
    ASSERT NOT EXISTS (SELECT FROM pg_class c WHERE (c.relnamespace = 'jobstats'::regnamespace OR c.relname ~ '^_(hyper|materialized_hypertable)_') AND c.relkind IN ('r', 'p')
        AND c.relreplident = 'd' AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)), 'rows of some have no identity';
    ASSERT NOT EXISTS (TABLE rights_before EXCEPT ALL SELECT * FROM rights()), 'rights, indexes or views are lost';
    ASSERT NOT EXISTS (SELECT * FROM rights() EXCEPT ALL TABLE rights_before), 'there are rights, indexes or views that were not';
END
$$;
\ir meanwhile.sql

-- Feeding continues, and users' views show the data.
\ir ../stress/compare.sql
DO $$
BEGIN
    ASSERT (SELECT sum(sum) FROM mine_by_job) = (SELECT sum(write_bytes) FROM jobstats.increments), 'a view shows something else';
    ASSERT (SELECT count(*) > 100 FROM jobstats.rollup_10m JOIN jobstats.targets USING (target_id) WHERE cluster = 'at once'),
        'what was fed beside the conversion is not in the rollup';
END
$$;
