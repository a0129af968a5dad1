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
