-- What a store says that was restored without timescaledb_pre_restore().
SELECT jobstats_internal.damage_in_words();
SELECT count(*) FROM jobstats.health WHERE remedy LIKE 'The store is damaged: %';
SET client_min_messages = error;
CREATE TEMP TABLE said AS SELECT jobstats_setup() AS message;
SELECT substring(message FROM 'Mended: [^\n]*') FROM said;
SELECT jobstats_internal.damage_in_words() IS NULL;
-- The first chunk of a hypertable with continuous aggregates is empty. Unless it had next to nothing, its day is named.
SELECT (message ~ 'is damaged') = (jobstats_internal.lost_increments() IS NOT NULL) FROM said;
-- Keys hold in every chunk.
DO $$
BEGIN
    INSERT INTO jobstats.observations SELECT * FROM jobstats.observations;
    RAISE 'observations were stored twice';
EXCEPTION WHEN unique_violation THEN
    NULL;
END
$$;
