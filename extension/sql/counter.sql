-- Counters of any table of readings. The type itself is made from summary_type.sql.

COMMENT ON TYPE jobstats_counter IS
'Summary of the readings of a counter, made by jobstats_counter_agg() and merged by jobstats_rollup().';

CREATE FUNCTION jobstats_internal.counter_add(internal, timestamptz, numeric) RETURNS internal
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'counter_add_wrapper';
COMMENT ON FUNCTION jobstats_internal.counter_add(internal, timestamptz, numeric) IS 'Internal: of jobstats_counter_agg.';

CREATE FUNCTION jobstats_internal.counter_add(internal, timestamptz, numeric, timestamptz) RETURNS internal
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'counter_add_of_life_wrapper';
COMMENT ON FUNCTION jobstats_internal.counter_add(internal, timestamptz, numeric, timestamptz) IS 'Internal: of jobstats_counter_agg.';

CREATE FUNCTION jobstats_internal.counter_add(internal, timestamptz, numeric, timestamptz, bigint) RETURNS internal
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'counter_add_wrapping_wrapper';
COMMENT ON FUNCTION jobstats_internal.counter_add(internal, timestamptz, numeric, timestamptz, bigint) IS 'Internal: of jobstats_counter_agg.';

CREATE FUNCTION jobstats_internal.counter_finish(internal) RETURNS jobstats_counter
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'counter_finish_wrapper';
COMMENT ON FUNCTION jobstats_internal.counter_finish IS 'Internal: of jobstats_counter_agg.';

CREATE FUNCTION jobstats_internal.counter_merge(internal, jobstats_counter) RETURNS internal
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'counter_merge_wrapper';
COMMENT ON FUNCTION jobstats_internal.counter_merge IS 'Internal: of jobstats_rollup.';

CREATE FUNCTION jobstats_internal.counter_merged(internal) RETURNS jobstats_counter
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'counter_merged_wrapper';
COMMENT ON FUNCTION jobstats_internal.counter_merged IS 'Internal: of jobstats_rollup.';

CREATE AGGREGATE jobstats_counter_agg(observed timestamptz, value numeric) (
    SFUNC = jobstats_internal.counter_add, STYPE = internal, FINALFUNC = jobstats_internal.counter_finish, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_counter_agg(timestamptz, numeric) IS
'Aggregates the readings of one counter, in any order. A value below the one before is a reset. For equal times, the larger value counts; rows with a NULL are ignored. Read it with jobstats_counter_increase() and others. Errors: 22003 negative value, 22023 infinite time, 54000 over 1 GB out of order.';
CREATE AGGREGATE jobstats_counter_agg(observed timestamptz, value numeric, start_time timestamptz) (
    SFUNC = jobstats_internal.counter_add, STYPE = internal, FINALFUNC = jobstats_internal.counter_finish, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_counter_agg(timestamptz, numeric, timestamptz) IS
'Aggregates the readings of a counter whose start time is known. It is a reset if start_time differs, whatever the values; if start_time is NULL, the values decide. For equal times, the later start_time counts, then the larger value. Errors: as jobstats_counter_agg(timestamptz, numeric).';
CREATE AGGREGATE jobstats_counter_agg(observed timestamptz, value numeric, start_time timestamptz, wraps_at bigint) (
    SFUNC = jobstats_internal.counter_add, STYPE = internal, FINALFUNC = jobstats_internal.counter_finish, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_counter_agg(timestamptz, numeric, timestamptz, bigint) IS
'Aggregates the readings of a counter that wraps. After wraps_at - 1 it continues with 0 (4294967296: 32 bits; NULL: never). A lower value has wrapped once; only another start_time is a reset. Errors: 22003 value not below wraps_at, 22023 wraps_at not positive or not the same in all rows, 54000.';
CREATE AGGREGATE jobstats_rollup(counter jobstats_counter) (
    SFUNC = jobstats_internal.counter_merge, STYPE = internal, FINALFUNC = jobstats_internal.counter_merged, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_rollup(jobstats_counter) IS
'Merges summaries of one counter in spans of time that do not overlap. They may come in any order; growth between them is included. Errors: 22000 for spans that overlap or share an end, 22023 for counters that wrap at different values.';

CREATE FUNCTION jobstats_counter_increase(counter jobstats_counter) RETURNS numeric
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_counter_increase_wrapper';
COMMENT ON FUNCTION jobstats_counter_increase(jobstats_counter) IS 'Returns by how much a counter grew, exactly, resets included.';

CREATE FUNCTION jobstats_counter_increase(counter jobstats_counter, previous jobstats_counter) RETURNS numeric
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_counter_increase_after_wrapper';
COMMENT ON FUNCTION jobstats_counter_increase(jobstats_counter, jobstats_counter) IS
'Returns by how much a counter grew since a previous summary. With previous = lag(counter) OVER (PARTITION BY series ORDER BY bucket), the buckets'' increases add up. previous NULL: jobstats_counter_increase(counter). Error: 22000 if previous does not end before counter begins.';

CREATE FUNCTION jobstats_counter_rate(counter jobstats_counter) RETURNS double precision
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_counter_rate_wrapper';
COMMENT ON FUNCTION jobstats_counter_rate(jobstats_counter) IS
'Returns by how much a counter grew per second. It is the increase divided by the time from the first reading to the last. NULL for a single reading.';

CREATE FUNCTION jobstats_counter_rate(counter jobstats_counter, previous jobstats_counter) RETURNS double precision
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_counter_rate_after_wrapper';
COMMENT ON FUNCTION jobstats_counter_rate(jobstats_counter, jobstats_counter) IS
'Returns the growth per second since a previous summary. It is the increase divided by the time from the last reading of previous to the last reading of counter. previous NULL: jobstats_counter_rate(counter). Error: 22000 if previous does not end before counter begins.';

CREATE FUNCTION jobstats_counter_resets(counter jobstats_counter) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_counter_resets_wrapper';
COMMENT ON FUNCTION jobstats_counter_resets(jobstats_counter) IS 'Returns how often a counter was reset.';

CREATE FUNCTION jobstats_counter_resets(counter jobstats_counter, previous jobstats_counter) RETURNS bigint
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_counter_resets_after_wrapper';
COMMENT ON FUNCTION jobstats_counter_resets(jobstats_counter, jobstats_counter) IS
'Returns how often a counter was reset since a previous summary. With previous = lag(counter) OVER (PARTITION BY series ORDER BY bucket), resets between buckets count in the later one. previous NULL: jobstats_counter_resets(counter). Error: 22000 if previous does not end before counter begins.';

CREATE FUNCTION jobstats_counter_elapsed(counter jobstats_counter) RETURNS interval
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_counter_elapsed_wrapper';
COMMENT ON FUNCTION jobstats_counter_elapsed(jobstats_counter) IS
'Returns the time from the first reading of a counter to the last. Given in days and hh:mm:ss.';

CREATE FUNCTION jobstats_counter_elapsed(counter jobstats_counter, previous jobstats_counter) RETURNS interval
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_counter_elapsed_after_wrapper';
COMMENT ON FUNCTION jobstats_counter_elapsed(jobstats_counter, jobstats_counter) IS
'Returns the time since the last reading of a previous summary. It ends with the last reading, in days and hh:mm:ss. previous NULL: jobstats_counter_elapsed(counter). Error: 22000 if previous does not end before counter begins.';

CREATE FUNCTION jobstats_counter_first(counter jobstats_counter) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_counter_first_wrapper';
COMMENT ON FUNCTION jobstats_counter_first IS 'Returns the value of the first reading.';

CREATE FUNCTION jobstats_counter_last(counter jobstats_counter) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_counter_last_wrapper';
COMMENT ON FUNCTION jobstats_counter_last IS 'Returns the value of the last reading.';
