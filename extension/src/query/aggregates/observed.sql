CREATE AGGREGATE jobstats_internal.observed(since timestamptz, until timestamptz, edges timestamptz[]) (
    SFUNC = jobstats_internal.observed_add, STYPE = internal, FINALFUNC = jobstats_internal.observed_finish, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_internal.observed(timestamptz, timestamptz, timestamptz[]) IS
'Internal: how many microseconds of each step between edges, which are in order and the same in all rows, lie in the spans (since, until]; NULL where there are none.';
