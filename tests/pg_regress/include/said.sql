-- Runs a statement: 'done', or SQLSTATE, message and HINT of its error, with N for the version of the extension.
CREATE FUNCTION said(statement text, separator text DEFAULT ' ') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
BEGIN
    EXECUTE statement;
    RETURN 'done';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(separator, SQLSTATE || ' ' || regexp_replace(SQLERRM, current.version, 'N'), hint)
        FROM (SELECT extversion FROM pg_extension WHERE extname = 'jobstats') AS current (version);
END
$$;
