-- Densities of any values. The type itself is made from summary_type.sql.

COMMENT ON TYPE jobstats_density IS
'Counts of values by powers of a base, made by jobstats_density_agg() and merged by jobstats_rollup().';

CREATE FUNCTION jobstats_internal.density_add(internal, double precision) RETURNS internal
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'density_add_wrapper';
COMMENT ON FUNCTION jobstats_internal.density_add(internal, double precision) IS 'Internal: of jobstats_density_agg.';

CREATE FUNCTION jobstats_internal.density_add(internal, double precision, integer) RETURNS internal
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'density_add_to_base_wrapper';
COMMENT ON FUNCTION jobstats_internal.density_add(internal, double precision, integer) IS 'Internal: of jobstats_density_agg.';

CREATE FUNCTION jobstats_internal.density_merge(internal, jobstats_density) RETURNS internal
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'density_merge_wrapper';
COMMENT ON FUNCTION jobstats_internal.density_merge IS 'Internal: of jobstats_rollup.';

CREATE FUNCTION jobstats_internal.density_finish(internal) RETURNS jobstats_density
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'density_finish_wrapper';
COMMENT ON FUNCTION jobstats_internal.density_finish IS 'Internal: of jobstats_density_agg and jobstats_rollup.';

CREATE AGGREGATE jobstats_density_agg(value double precision) (
    SFUNC = jobstats_internal.density_add, STYPE = internal, FINALFUNC = jobstats_internal.density_finish, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_density_agg(double precision) IS
'Counts how many values lie in each power of ten. Bucket y counts the values x with 10^y <= x < 10^(y+1); zeros are counted separately, NULL is ignored. Read it with jobstats_density_buckets(), _count() and _zeros(). Error: 22003 for a negative or infinite value, or NaN.';
CREATE AGGREGATE jobstats_density_agg(value double precision, base integer) (
    SFUNC = jobstats_internal.density_add, STYPE = internal, FINALFUNC = jobstats_internal.density_finish, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_density_agg(double precision, integer) IS
'Counts how many values lie in each power of another base. Like jobstats_density_agg(double precision), with a base from 2 to 100, the same in all rows. Errors: 22003 for a negative or infinite value, or NaN, 22023 for another base.';
CREATE AGGREGATE jobstats_rollup(density jobstats_density) (
    SFUNC = jobstats_internal.density_merge, STYPE = internal, FINALFUNC = jobstats_internal.density_finish, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_rollup(jobstats_density) IS
'Merges densities of the same base. The result is the density of all their values. Error: 22023 for different bases.';

CREATE FUNCTION jobstats_density_buckets(density jobstats_density) RETURNS TABLE (
    bucket integer, lower double precision, upper double precision, count bigint
)
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE ROWS 10 AS 'MODULE_PATHNAME', 'jobstats_density_buckets_wrapper';
COMMENT ON FUNCTION jobstats_density_buckets IS
'Returns the buckets of a density that are not empty. In ascending order; count: values x with lower <= x < upper, where lower is base^bucket.';

CREATE FUNCTION jobstats_density_count(density jobstats_density) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_density_count_wrapper';
COMMENT ON FUNCTION jobstats_density_count IS 'Returns how many values of a density were above zero.';

CREATE FUNCTION jobstats_density_zeros(density jobstats_density) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_density_zeros_wrapper';
COMMENT ON FUNCTION jobstats_density_zeros IS 'Returns how many values of a density were zero.';
