CREATE AGGREGATE jobstats_internal.sum(value bigint, observed bigint, scale bigint) (
    SFUNC = jobstats_internal.sum_add, STYPE = internal, FINALFUNC = jobstats_internal.sum_finish, SSPACE = 80, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_internal.sum(bigint, bigint, bigint) IS
'Internal: the exact sum of all values; takes what jobstats_internal.sum_of_rates does.';
CREATE AGGREGATE jobstats_internal.sum(value numeric, observed bigint, scale bigint) (
    SFUNC = jobstats_internal.sum_add, STYPE = internal, FINALFUNC = jobstats_internal.sum_finish, SSPACE = 80, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_internal.sum(numeric, bigint, bigint) IS
'Internal: the exact sum of all values, which are whole; takes what jobstats_internal.sum_of_rates does.';
CREATE AGGREGATE jobstats_internal.sum_of_rates(value bigint, observed bigint, scale bigint) (
    SFUNC = jobstats_internal.sum_add, STYPE = internal, FINALFUNC = jobstats_internal.sum_of_rates_finish, SSPACE = 80,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_internal.sum_of_rates(bigint, bigint, bigint) IS
'Internal: the sum of scale * value / observed, rounded once; observed is in microseconds, scale the same in all rows.';
CREATE AGGREGATE jobstats_internal.sum_of_rates(value numeric, observed bigint, scale bigint) (
    SFUNC = jobstats_internal.sum_add, STYPE = internal, FINALFUNC = jobstats_internal.sum_of_rates_finish, SSPACE = 80,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_internal.sum_of_rates(numeric, bigint, bigint) IS
'Internal: the sum of scale * value / observed, where values are whole, rounded once; observed is in microseconds, scale the same in all rows.';
CREATE AGGREGATE jobstats_internal.any(value bigint, observed bigint, scale bigint) (
    SFUNC = jobstats_internal.sum_add, STYPE = internal, FINALFUNC = jobstats_internal.any_finish, SSPACE = 80, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_internal.any(bigint, bigint, bigint) IS
'Internal: whether the sum of all values is not zero; takes what jobstats_internal.sum_of_rates does.';
CREATE AGGREGATE jobstats_internal.any(value numeric, observed bigint, scale bigint) (
    SFUNC = jobstats_internal.sum_add, STYPE = internal, FINALFUNC = jobstats_internal.any_finish, SSPACE = 80, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_internal.any(numeric, bigint, bigint) IS
'Internal: whether the sum of all values, which are whole, is not zero; takes what jobstats_internal.sum_of_rates does.';
