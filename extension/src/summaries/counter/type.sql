CREATE FUNCTION jobstats_internal.counter_send(jobstats_counter) RETURNS bytea
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'byteasend';
COMMENT ON FUNCTION jobstats_internal.counter_send(jobstats_counter) IS 'Internal: to a binary message.';

CREATE TYPE jobstats_counter (
    INPUT = jobstats_internal.counter_in, OUTPUT = jobstats_internal.counter_out,
    RECEIVE = jobstats_internal.counter_recv, SEND = jobstats_internal.counter_send,
    INTERNALLENGTH = VARIABLE, STORAGE = extended
);
COMMENT ON TYPE jobstats_counter IS
'What the readings of a counter sum up to: made by jobstats_counter_agg(), merged by jobstats_rollup().';

CREATE FUNCTION jobstats_internal.counter_eq(jobstats_counter, jobstats_counter) RETURNS boolean
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'byteaeq';
COMMENT ON FUNCTION jobstats_internal.counter_eq(jobstats_counter, jobstats_counter) IS 'Internal: =.';
CREATE FUNCTION jobstats_internal.counter_ne(jobstats_counter, jobstats_counter) RETURNS boolean
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'byteane';
COMMENT ON FUNCTION jobstats_internal.counter_ne(jobstats_counter, jobstats_counter) IS 'Internal: <>.';
CREATE FUNCTION jobstats_internal.counter_hash(jobstats_counter) RETURNS integer
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'hashvarlena';
COMMENT ON FUNCTION jobstats_internal.counter_hash(jobstats_counter) IS 'Internal: for GROUP BY and DISTINCT.';

CREATE OPERATOR = (
    LEFTARG = jobstats_counter, RIGHTARG = jobstats_counter, FUNCTION = jobstats_internal.counter_eq,
    COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR = (jobstats_counter, jobstats_counter) IS 'The same readings at either end, increase and resets.';
CREATE OPERATOR <> (
    LEFTARG = jobstats_counter, RIGHTARG = jobstats_counter, FUNCTION = jobstats_internal.counter_ne,
    COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (jobstats_counter, jobstats_counter) IS 'Not =.';
CREATE OPERATOR CLASS jobstats_counter_ops DEFAULT FOR TYPE jobstats_counter USING hash AS
    OPERATOR 1 =, FUNCTION 1 jobstats_internal.counter_hash(jobstats_counter);
COMMENT ON OPERATOR CLASS jobstats_counter_ops USING hash IS 'For GROUP BY, DISTINCT and hash joins.';
