-- Counters of any table of readings. The type itself is made from summary_type.sql.

COMMENT ON TYPE jobstats_counter IS
'What the readings of a counter sum up to: made by jobstats_counter_agg(), merged by jobstats_rollup().';

CREATE FUNCTION jobstats_internal.counter_add(internal, timestamptz, bigint) RETURNS internal
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_counter_add';
COMMENT ON FUNCTION jobstats_internal.counter_add(internal, timestamptz, bigint) IS 'Internal: of jobstats_counter_agg.';

CREATE FUNCTION jobstats_internal.counter_add(internal, timestamptz, bigint, timestamptz) RETURNS internal
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_counter_add_of_life';
COMMENT ON FUNCTION jobstats_internal.counter_add(internal, timestamptz, bigint, timestamptz) IS
'Internal: of jobstats_counter_agg.';

CREATE FUNCTION jobstats_internal.counter_add(internal, timestamptz, bigint, timestamptz, bigint) RETURNS internal
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'counter_add_wrapping_wrapper';
COMMENT ON FUNCTION jobstats_internal.counter_add(internal, timestamptz, bigint, timestamptz, bigint) IS
'Internal: of jobstats_counter_agg.';

CREATE FUNCTION jobstats_internal.counter_finish(internal) RETURNS jobstats_counter
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'counter_finish_wrapper';
COMMENT ON FUNCTION jobstats_internal.counter_finish(internal) IS 'Internal: of jobstats_counter_agg.';

CREATE FUNCTION jobstats_internal.counter_merge(internal, jobstats_counter) RETURNS internal
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'counter_merge_wrapper';
COMMENT ON FUNCTION jobstats_internal.counter_merge(internal, jobstats_counter) IS 'Internal: of jobstats_rollup.';

CREATE FUNCTION jobstats_internal.counter_merged(internal) RETURNS jobstats_counter
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'counter_merged_wrapper';
COMMENT ON FUNCTION jobstats_internal.counter_merged(internal) IS 'Internal: of jobstats_rollup.';

CREATE AGGREGATE jobstats_counter_agg(observed timestamptz, value bigint) (
    SFUNC = jobstats_internal.counter_add, STYPE = internal, FINALFUNC = jobstats_internal.counter_finish, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_counter_agg(timestamptz, bigint) IS
'Sums up the readings of one counter, in any order. A value that is lower than the one before it is a reset. Of equal times the larger value counts; rows with a NULL are passed over. Read it with jobstats_increase, _rate, _resets, _elapsed, _first, _last; merge with jobstats_rollup. Errors: 22003 for a negative value, 22023 for a time that is not finite, 54000 where over a gigabyte of readings are not in the order of time.';
CREATE AGGREGATE jobstats_counter_agg(observed timestamptz, value bigint, start_time timestamptz) (
    SFUNC = jobstats_internal.counter_add, STYPE = internal, FINALFUNC = jobstats_internal.counter_finish, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_counter_agg(timestamptz, bigint, timestamptz) IS
'Sums up the readings of a counter that tells when its life began. Like jobstats_counter_agg(timestamptz, bigint), but it is a reset exactly if start_time differs, whatever the values. start_time NULL is not known: the values decide. Of equal times the later start_time counts, then the larger value. Errors: 22003 for a negative value, 22023 for a time that is not finite, 54000 where over a gigabyte of readings are not in the order of time.';
CREATE AGGREGATE jobstats_counter_agg(observed timestamptz, value bigint, start_time timestamptz, wraps_at bigint) (
    SFUNC = jobstats_internal.counter_add, STYPE = internal, FINALFUNC = jobstats_internal.counter_finish, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_counter_agg(timestamptz, bigint, timestamptz, bigint) IS
'Sums up the readings of a counter that wraps. After wraps_at - 1 the counter goes on with 0, so that wraps_at is 4294967296 for 32 bits. A value that is lower than the one before it has wrapped once; it is a reset only if both have a start_time and these differ. wraps_at is the same in all rows; NULL is that of a counter that never wraps. Errors: 22003 for a value that is negative or not below wraps_at, 22023 for a wraps_at that is not positive or not the same in all rows, and those of jobstats_counter_agg(timestamptz, bigint, timestamptz).';
CREATE AGGREGATE jobstats_rollup(counter jobstats_counter) (
    SFUNC = jobstats_internal.counter_merge, STYPE = internal, FINALFUNC = jobstats_internal.counter_merged, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_rollup(jobstats_counter) IS
'Merges summaries of one counter in spans of time that do not overlap. They may come in any order; what happened between them is in the result. Errors: 22000 for spans that overlap or share an end, 22023 for counters that wrap at different values.';

CREATE FUNCTION jobstats_increase(counter jobstats_counter) RETURNS numeric
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_increase_wrapper';
COMMENT ON FUNCTION jobstats_increase(jobstats_counter) IS
'Returns by how much a counter grew, exactly, resets included.';

CREATE FUNCTION jobstats_increase(counter jobstats_counter, previous jobstats_counter) RETURNS numeric
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_increase_after_wrapper';
COMMENT ON FUNCTION jobstats_increase(jobstats_counter, jobstats_counter) IS
'Returns by how much a counter grew since a previous summary. With lag(counter) OVER (PARTITION BY series ORDER BY bucket) as previous, the increases of all buckets add up to that of the whole, also where the counter grew between two buckets. previous NULL: jobstats_increase(counter). Error: 22000 for a previous that does not end before counter begins.';

CREATE FUNCTION jobstats_rate(counter jobstats_counter) RETURNS double precision
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_rate_wrapper';
COMMENT ON FUNCTION jobstats_rate(jobstats_counter) IS
'Returns by how much a counter grew per second. It is the increase divided by the time from its first reading to its last. NULL for a single reading.';

CREATE FUNCTION jobstats_rate(counter jobstats_counter, previous jobstats_counter) RETURNS double precision
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_rate_after_wrapper';
COMMENT ON FUNCTION jobstats_rate(jobstats_counter, jobstats_counter) IS
'Returns by how much a counter grew per second since a previous summary. It is the increase divided by the time from the last reading of previous to the last reading of counter. previous NULL: jobstats_rate(counter). Error: 22000 for a previous that does not end before counter begins.';

CREATE FUNCTION jobstats_resets(counter jobstats_counter) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_resets_wrapper';
COMMENT ON FUNCTION jobstats_resets(jobstats_counter) IS 'Returns how often a counter was reset.';

CREATE FUNCTION jobstats_resets(counter jobstats_counter, previous jobstats_counter) RETURNS bigint
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_resets_after_wrapper';
COMMENT ON FUNCTION jobstats_resets(jobstats_counter, jobstats_counter) IS
'Returns how often a counter was reset since a previous summary. With lag(counter) OVER (PARTITION BY series ORDER BY bucket) as previous, a reset between two buckets counts in the later one. previous NULL: jobstats_resets(counter). Error: 22000 for a previous that does not end before counter begins.';

CREATE FUNCTION jobstats_elapsed(counter jobstats_counter) RETURNS interval
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_elapsed_wrapper';
COMMENT ON FUNCTION jobstats_elapsed(jobstats_counter) IS
'Returns the time from the first reading of a counter to the last. It is in days and time of day.';

CREATE FUNCTION jobstats_elapsed(counter jobstats_counter, previous jobstats_counter) RETURNS interval
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_elapsed_after_wrapper';
COMMENT ON FUNCTION jobstats_elapsed(jobstats_counter, jobstats_counter) IS
'Returns the time since the last reading of a previous summary. It ends with the last reading, and is in days and time of day. previous NULL: jobstats_elapsed(counter). Error: 22000 for a previous that does not end before counter begins.';

CREATE FUNCTION jobstats_first(counter jobstats_counter) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_first_wrapper';
COMMENT ON FUNCTION jobstats_first(jobstats_counter) IS 'Returns the value of the first reading.';

CREATE FUNCTION jobstats_last(counter jobstats_counter) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_last_wrapper';
COMMENT ON FUNCTION jobstats_last(jobstats_counter) IS 'Returns the value of the last reading.';
