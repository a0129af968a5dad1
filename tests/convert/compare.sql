-- After a conversion beside feeders: what is stored, and what it is stored in.
SET search_path = public, texts;
DO $$
DECLARE
    community boolean := current_setting('timescaledb.license') = 'timescale';
BEGIN
    ASSERT (SELECT count(*) = 3 + CASE WHEN community THEN 0 ELSE 3 END FROM timescaledb_information.hypertables h
        WHERE h.hypertable_schema = 'jobstats'), 'some are no hypertables';
    ASSERT (SELECT count(*) = CASE WHEN community THEN 3 ELSE 0 END FROM timescaledb_information.continuous_aggregates a
        WHERE a.view_schema = 'jobstats'), 'some rollups are no continuous aggregates';
    ASSERT NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = 'jobstats'::regnamespace AND relname ~ '^(old|new|converting)_?'),
        'something is left behind';
    ASSERT NOT EXISTS (TABLE rights_before EXCEPT ALL SELECT * FROM rights()), 'rights, indexes or views are lost';
    ASSERT NOT EXISTS (SELECT * FROM rights() EXCEPT ALL TABLE rights_before), 'there are rights, indexes or views that were not';
END
$$;
\ir meanwhile.sql

-- It goes on: what a refresh computes now is what increments say.
CALL jobstats_maintain();
DO $$
DECLARE
    level record;
    wrong bigint;
BEGIN
    FOR level IN SELECT l.level, l.width FROM jobstats.rollups l LOOP
        EXECUTE format($f$
            SELECT count(*) FROM (
                SELECT bucket, entry_id, target_id, write_bytes, write, punch, open, getattr FROM jobstats.increments_%s) shown
            FULL JOIN (
                SELECT date_bin(%L, "time" - interval '1 microsecond', 'epoch') + interval '1 microsecond' AS bucket, entry_id, target_id,
                    sum(write_bytes)::bigint AS write_bytes, sum(write)::bigint AS write, sum(punch)::bigint AS punch,
                    sum(open)::bigint AS open, sum(getattr)::bigint AS getattr
                FROM jobstats.increments GROUP BY 1, 2, 3) said
            USING (bucket, entry_id, target_id)
            WHERE (shown.write_bytes, shown.write, shown.punch, shown.open, shown.getattr)
                IS DISTINCT FROM (said.write_bytes, said.write, said.punch, said.open, said.getattr)
                AND bucket > now() - interval '40 days'
        $f$, level.level, level.width) INTO wrong;
        ASSERT wrong = 0, format('%s rows of increments_%s are wrong', wrong, level.level);
    END LOOP;
    ASSERT (SELECT sum(sum) FROM mine_by_job) = (SELECT sum(write_bytes) FROM jobstats.increments), 'a view shows something else';
    ASSERT NOT EXISTS (TABLE jobstats.dirty), 'a span stays dirty';
    ASSERT (SELECT count(*) > 100 FROM jobstats.rollup_10m JOIN jobstats.targets USING (target_id) WHERE cluster = 'at once'),
        'what was fed beside the conversion is not in the rollup';
END
$$;
\ir ../stress/compare.sql
