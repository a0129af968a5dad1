CREATE FUNCTION jobstats_internal.density_send(jobstats_density) RETURNS bytea
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'byteasend';
COMMENT ON FUNCTION jobstats_internal.density_send(jobstats_density) IS 'Internal: to a binary message.';

CREATE TYPE jobstats_density (
    INPUT = jobstats_internal.density_in, OUTPUT = jobstats_internal.density_out,
    RECEIVE = jobstats_internal.density_recv, SEND = jobstats_internal.density_send,
    INTERNALLENGTH = VARIABLE, STORAGE = extended
);
COMMENT ON TYPE jobstats_density IS
'How many values lie in which power of a base: made by jobstats_density_agg(), merged by jobstats_rollup().';

CREATE FUNCTION jobstats_internal.density_eq(jobstats_density, jobstats_density) RETURNS boolean
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'byteaeq';
COMMENT ON FUNCTION jobstats_internal.density_eq(jobstats_density, jobstats_density) IS 'Internal: =.';
CREATE FUNCTION jobstats_internal.density_ne(jobstats_density, jobstats_density) RETURNS boolean
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'byteane';
COMMENT ON FUNCTION jobstats_internal.density_ne(jobstats_density, jobstats_density) IS 'Internal: <>.';
CREATE FUNCTION jobstats_internal.density_hash(jobstats_density) RETURNS integer
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'hashvarlena';
COMMENT ON FUNCTION jobstats_internal.density_hash(jobstats_density) IS 'Internal: for GROUP BY and DISTINCT.';

CREATE OPERATOR = (
    LEFTARG = jobstats_density, RIGHTARG = jobstats_density, FUNCTION = jobstats_internal.density_eq,
    COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR = (jobstats_density, jobstats_density) IS 'The same base and the same counts.';
CREATE OPERATOR <> (
    LEFTARG = jobstats_density, RIGHTARG = jobstats_density, FUNCTION = jobstats_internal.density_ne,
    COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (jobstats_density, jobstats_density) IS 'Not =.';
CREATE OPERATOR CLASS jobstats_density_ops DEFAULT FOR TYPE jobstats_density USING hash AS
    OPERATOR 1 =, FUNCTION 1 jobstats_internal.density_hash(jobstats_density);
COMMENT ON OPERATOR CLASS jobstats_density_ops USING hash IS 'For GROUP BY, DISTINCT and hash joins.';
