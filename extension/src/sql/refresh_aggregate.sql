-- TimescaleDB's functions can be in any schema, and EXECUTE could not commit.
CREATE OR REPLACE PROCEDURE jobstats.refresh_aggregate(level text, span_from timestamptz, span_to timestamptz)
LANGUAGE plpgsql
AS $$
BEGIN
    CALL @timescale@.refresh_continuous_aggregate(
        ('jobstats.rollup_' || level)::pg_catalog.regclass,
        span_from + pg_catalog.interval '1 microsecond', span_to + pg_catalog.interval '1 microsecond');
END
$$;
COMMENT ON PROCEDURE jobstats.refresh_aggregate(text, timestamptz, timestamptz) IS
'Internal: computes buckets of a rollup that is a continuous aggregate.';
