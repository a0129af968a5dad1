-- A type of summaries, named @type@: a table holds the bytes that the library makes, each summary has exactly
-- one sequence of bytes, and PostgreSQL compares and hashes them as it does bytea.

CREATE TYPE jobstats_@type@;

CREATE FUNCTION jobstats_internal.@type@_in(cstring) RETURNS jobstats_@type@
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', '@type@_in_wrapper';
COMMENT ON FUNCTION jobstats_internal.@type@_in IS 'Internal: from text.';

CREATE FUNCTION jobstats_internal.@type@_out(jobstats_@type@) RETURNS cstring
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', '@type@_out_wrapper';
COMMENT ON FUNCTION jobstats_internal.@type@_out IS 'Internal: to text.';

CREATE FUNCTION jobstats_internal.@type@_recv(internal) RETURNS jobstats_@type@
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', '@type@_recv_wrapper';
COMMENT ON FUNCTION jobstats_internal.@type@_recv IS 'Internal: from a binary message.';

CREATE FUNCTION jobstats_internal.@type@_send(jobstats_@type@) RETURNS bytea
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'byteasend';
COMMENT ON FUNCTION jobstats_internal.@type@_send IS 'Internal: to a binary message.';

CREATE TYPE jobstats_@type@ (
    INPUT = jobstats_internal.@type@_in, OUTPUT = jobstats_internal.@type@_out,
    RECEIVE = jobstats_internal.@type@_recv, SEND = jobstats_internal.@type@_send,
    INTERNALLENGTH = VARIABLE, STORAGE = extended
);

CREATE FUNCTION jobstats_internal.@type@_eq(jobstats_@type@, jobstats_@type@) RETURNS boolean
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'byteaeq';
COMMENT ON FUNCTION jobstats_internal.@type@_eq IS 'Internal: =.';
CREATE FUNCTION jobstats_internal.@type@_ne(jobstats_@type@, jobstats_@type@) RETURNS boolean
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'byteane';
COMMENT ON FUNCTION jobstats_internal.@type@_ne IS 'Internal: <>.';
CREATE FUNCTION jobstats_internal.@type@_hash(jobstats_@type@) RETURNS integer
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'hashvarlena';
COMMENT ON FUNCTION jobstats_internal.@type@_hash IS 'Internal: for GROUP BY and DISTINCT.';

CREATE OPERATOR = (
    LEFTARG = jobstats_@type@, RIGHTARG = jobstats_@type@, FUNCTION = jobstats_internal.@type@_eq,
    COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR = (jobstats_@type@, jobstats_@type@) IS 'The same summary.';
CREATE OPERATOR <> (
    LEFTARG = jobstats_@type@, RIGHTARG = jobstats_@type@, FUNCTION = jobstats_internal.@type@_ne,
    COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (jobstats_@type@, jobstats_@type@) IS 'Not =.';
CREATE OPERATOR CLASS jobstats_@type@_ops DEFAULT FOR TYPE jobstats_@type@ USING hash AS
    OPERATOR 1 =, FUNCTION 1 jobstats_internal.@type@_hash(jobstats_@type@);
COMMENT ON OPERATOR CLASS jobstats_@type@_ops USING hash IS 'For GROUP BY, DISTINCT and hash joins.';
