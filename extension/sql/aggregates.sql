-- Aggregates of which the functions of SQL alone are made: sums that never overflow, made from sums.sql, and observed time.

CREATE FUNCTION jobstats_internal.observed_add(internal, timestamptz, timestamptz, timestamptz[]) RETURNS internal
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'observed_add_wrapper';
COMMENT ON FUNCTION jobstats_internal.observed_add(internal, timestamptz, timestamptz, timestamptz[]) IS
'Internal: of jobstats_internal.observed.';

CREATE FUNCTION jobstats_internal.observed_finish(internal) RETURNS bigint[]
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'observed_finish_wrapper';
COMMENT ON FUNCTION jobstats_internal.observed_finish(internal) IS 'Internal: of jobstats_internal.observed.';

CREATE FUNCTION jobstats_internal.sum_add(internal, bigint, bigint, bigint) RETURNS internal
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_sum_add';
COMMENT ON FUNCTION jobstats_internal.sum_add(internal, bigint, bigint, bigint) IS
'Internal: of jobstats_internal.sum, jobstats_internal.sum_of_rates and jobstats_internal.any.';

CREATE FUNCTION jobstats_internal.sum_add(internal, numeric, bigint, bigint) RETURNS internal
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sum_add_numeric_wrapper';
COMMENT ON FUNCTION jobstats_internal.sum_add(internal, numeric, bigint, bigint) IS
'Internal: of jobstats_internal.sum, jobstats_internal.sum_of_rates and jobstats_internal.any.';

CREATE FUNCTION jobstats_internal.sum_finish(internal) RETURNS numeric
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'sum_finish_wrapper';
COMMENT ON FUNCTION jobstats_internal.sum_finish(internal) IS 'Internal: of jobstats_internal.sum.';

CREATE FUNCTION jobstats_internal.sum_of_rates_finish(internal) RETURNS double precision
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'sum_of_rates_finish_wrapper';
COMMENT ON FUNCTION jobstats_internal.sum_of_rates_finish(internal) IS 'Internal: of jobstats_internal.sum_of_rates.';

CREATE FUNCTION jobstats_internal.any_finish(internal) RETURNS boolean
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'any_finish_wrapper';
COMMENT ON FUNCTION jobstats_internal.any_finish(internal) IS 'Internal: of jobstats_internal.any.';

CREATE AGGREGATE jobstats_internal.observed(since timestamptz, until timestamptz, edges timestamptz[]) (
    SFUNC = jobstats_internal.observed_add, STYPE = internal, FINALFUNC = jobstats_internal.observed_finish, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_internal.observed(timestamptz, timestamptz, timestamptz[]) IS
'Internal: how many microseconds of each step between edges, which are in order and the same in all rows, lie in the spans (since, until]; NULL where there are none.';
