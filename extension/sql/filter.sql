-- Filters of questions: which values of dimensions are wanted. The library reads both forms; a filter is kept as jsonb.

CREATE TYPE jobstats_filter;

CREATE FUNCTION jobstats_internal.filter_in(cstring) RETURNS jobstats_filter
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'filter_in_wrapper';
COMMENT ON FUNCTION jobstats_internal.filter_in IS 'Internal: from text or JSON.';

CREATE FUNCTION jobstats_internal.filter_out(jobstats_filter) RETURNS cstring
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'jsonb_out';
COMMENT ON FUNCTION jobstats_internal.filter_out IS 'Internal: to JSON.';

CREATE FUNCTION jobstats_internal.filter_recv(internal) RETURNS jobstats_filter
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'filter_recv_wrapper';
COMMENT ON FUNCTION jobstats_internal.filter_recv IS 'Internal: from a binary message.';

CREATE FUNCTION jobstats_internal.filter_send(jobstats_filter) RETURNS bytea
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'jsonb_send';
COMMENT ON FUNCTION jobstats_internal.filter_send IS 'Internal: to a binary message.';

CREATE TYPE jobstats_filter (
    INPUT = jobstats_internal.filter_in, OUTPUT = jobstats_internal.filter_out,
    RECEIVE = jobstats_internal.filter_recv, SEND = jobstats_internal.filter_send,
    LIKE = jsonb
);
COMMENT ON TYPE jobstats_filter IS
'A filter of reading functions, such as user=jan target=scratch-OST*,scratch-MDT0000, or the same as JSON. A blank means and, a comma means or, quotes enclose blanks, account= means no account. * stands for any characters, \* for itself. jobstats_help(''filter'') lists the keys.';

CREATE FUNCTION jobstats_internal.filter(text) RETURNS jobstats_filter
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'filter_of_text_wrapper';
COMMENT ON FUNCTION jobstats_internal.filter(text) IS 'Internal: a filter of text, as its input function reads it.';

CREATE FUNCTION jobstats_internal.filter(jsonb) RETURNS jobstats_filter
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'filter_of_jsonb_wrapper';
COMMENT ON FUNCTION jobstats_internal.filter(jsonb) IS 'Internal: a filter of JSON.';

CREATE FUNCTION jobstats_internal.filter(json) RETURNS jobstats_filter
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN jobstats_internal.filter($1::jsonb);
COMMENT ON FUNCTION jobstats_internal.filter(json) IS 'Internal: a filter of JSON.';

CREATE FUNCTION jobstats_internal.filter_matches(filter jobstats_filter, labels jsonb, "any" boolean) RETURNS boolean
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'filter_matches_wrapper';
COMMENT ON FUNCTION jobstats_internal.filter_matches IS 'Internal: whether labels match each key of a filter, or any key.';

-- Answers have labels of jsonb, drivers send text, and a || b is jsonb: all are taken.
CREATE CAST (text AS jobstats_filter) WITH FUNCTION jobstats_internal.filter(text) AS IMPLICIT;
COMMENT ON CAST (text AS jobstats_filter) IS 'Reads a filter, which is text or JSON.';
CREATE CAST (varchar AS jobstats_filter) WITH FUNCTION jobstats_internal.filter(text) AS IMPLICIT;
COMMENT ON CAST (varchar AS jobstats_filter) IS 'Reads a filter, which is text or JSON.';
CREATE CAST (jsonb AS jobstats_filter) WITH FUNCTION jobstats_internal.filter(jsonb) AS IMPLICIT;
COMMENT ON CAST (jsonb AS jobstats_filter) IS 'Reads a filter, such as the labels of an answer.';
CREATE CAST (json AS jobstats_filter) WITH FUNCTION jobstats_internal.filter(json) AS IMPLICIT;
COMMENT ON CAST (json AS jobstats_filter) IS 'Reads a filter.';
CREATE CAST (jobstats_filter AS jsonb) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (jobstats_filter AS jsonb) IS 'A filter as it is stored.';
