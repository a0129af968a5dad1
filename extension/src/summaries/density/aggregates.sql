CREATE AGGREGATE jobstats_density_agg(value double precision) (
    SFUNC = jobstats_internal.density_add, STYPE = internal, FINALFUNC = jobstats_internal.density_finish, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_density_agg(double precision) IS
'How many values lie in which power of ten: bucket y counts the values x with 10^y <= x < 10^(y+1); zeros are counted apart, NULL is passed over. Read it with jobstats_buckets, jobstats_count and jobstats_zeros; merge with jobstats_rollup. Error: 22003 for a negative or infinite value, or NaN.';
CREATE AGGREGATE jobstats_density_agg(value double precision, base integer) (
    SFUNC = jobstats_internal.density_add, STYPE = internal, FINALFUNC = jobstats_internal.density_finish, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_density_agg(double precision, integer) IS
'Like jobstats_density_agg(double precision), in powers of another base from 2 to 100, the same in all rows. Errors: 22003 for a negative or infinite value, or NaN, 22023 for another base.';
CREATE AGGREGATE jobstats_rollup(density jobstats_density) (
    SFUNC = jobstats_internal.density_merge, STYPE = internal, FINALFUNC = jobstats_internal.density_finish, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_rollup(jobstats_density) IS
'The density of all values of several densities of the same base. Error: 22023 for different bases.';
