-- Sums of whole values of the type @type@ that never overflow.

CREATE AGGREGATE jobstats_internal.sum(value @type@, observed bigint, scale bigint) (
    SFUNC = jobstats_internal.sum_add, STYPE = internal, FINALFUNC = jobstats_internal.sum_finish, SSPACE = 80, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_internal.sum(@type@, bigint, bigint) IS
'Internal: the exact sum of all values; takes what jobstats_internal.sum_of_rates does.';
CREATE AGGREGATE jobstats_internal.sum_of_rates(value @type@, observed bigint, scale bigint) (
    SFUNC = jobstats_internal.sum_add, STYPE = internal, FINALFUNC = jobstats_internal.sum_of_rates_finish, SSPACE = 80,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_internal.sum_of_rates(@type@, bigint, bigint) IS
'Internal: the sum of scale * value / observed, where values are whole, rounded once; observed is in microseconds, scale the same in all rows.';
CREATE AGGREGATE jobstats_internal.any(value @type@, observed bigint, scale bigint) (
    SFUNC = jobstats_internal.sum_add, STYPE = internal, FINALFUNC = jobstats_internal.any_finish, SSPACE = 80, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_internal.any(@type@, bigint, bigint) IS
'Internal: whether the sum of all values is not zero; takes what jobstats_internal.sum_of_rates does.';
