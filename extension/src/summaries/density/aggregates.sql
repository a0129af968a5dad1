CREATE AGGREGATE jobstats_density_agg(value double precision) (
    SFUNC = jobstats_internal.density_add, STYPE = internal, FINALFUNC = jobstats_internal.density_finish, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_density_agg(double precision) IS
'Counts how many values lie in each power of ten. Bucket y counts the values x with 10^y <= x < 10^(y+1); zeros are counted separately, NULL is ignored. Read it with jobstats_buckets, jobstats_count and jobstats_zeros; merge with jobstats_rollup. Error: 22003 for a negative or infinite value, or NaN.';
CREATE AGGREGATE jobstats_density_agg(value double precision, base integer) (
    SFUNC = jobstats_internal.density_add, STYPE = internal, FINALFUNC = jobstats_internal.density_finish, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_density_agg(double precision, integer) IS
'Counts how many values lie in each power of another base. Like jobstats_density_agg(double precision), with a base from 2 to 100, the same in all rows. Errors: 22003 for a negative or infinite value, or NaN, 22023 for another base.';
CREATE AGGREGATE jobstats_rollup(density jobstats_density) (
    SFUNC = jobstats_internal.density_merge, STYPE = internal, FINALFUNC = jobstats_internal.density_finish, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_rollup(jobstats_density) IS
'Merges densities of the same base into that of all their values. Error: 22023 for different bases.';
