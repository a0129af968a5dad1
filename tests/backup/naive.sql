-- Prints the errors of a store that was restored without timescaledb_pre_restore().
SELECT jobstats_internal.damage_in_words();
SELECT count(*) FROM jobstats.health WHERE remedy LIKE 'The store is damaged: %';
SET client_min_messages = error;
CREATE TEMP TABLE said AS SELECT jobstats_setup() AS message;
SELECT substring(message FROM 'Repaired: [^\n]*') FROM said;
SELECT jobstats_internal.damage_in_words() IS NULL;
-- The first chunk of a hypertable is empty. Its day is reported, unless it was nearly empty before.
SELECT (message ~ 'is damaged') = (num_nonnulls(jobstats_internal.lost_increments(), jobstats_internal.lost_rollups()) > 0) FROM said;
-- Keys hold in every chunk.
DO $$
BEGIN
    INSERT INTO jobstats.observations SELECT * FROM jobstats.observations;
    RAISE 'observations were stored twice';
EXCEPTION WHEN unique_violation THEN
    NULL;
END
$$;
