-- Functions on text alone, which need no store.

CREATE FUNCTION jobstats_internal.as_like(patterns text[]) RETURNS text[]
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_as_like_wrapper';
COMMENT ON FUNCTION jobstats_internal.as_like(text[]) IS
'Internal: the patterns of LIKE that the same names match as these patterns, in which nothing but * is special.';

-- The first sentence of a function's COMMENT ON fits a line; functions for users are those whose comment does not begin with
-- "Internal".
CREATE FUNCTION jobstats_help(topic text DEFAULT NULL) RETURNS TABLE (name text, what text)
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    similar_names text;
BEGIN
RETURN QUERY
WITH functions AS (
    SELECT p.oid, p.proname::text AS name, p.prokind, obj_description(p.oid, 'pg_proc') AS comment
    FROM pg_extension e
    JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
    JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
    WHERE e.extname = 'jobstats'
)
SELECT f.name, CASE WHEN topic IS NULL THEN substring(f.comment FROM '^.*?\.(?=\s|$)') ELSE described.what END
FROM functions f
CROSS JOIN LATERAL (
    SELECT concat(CASE f.prokind WHEN 'p' THEN 'CALL ' END, f.name, '(', pg_get_function_arguments(f.oid), ')',
        ' RETURNS ' || nullif(pg_get_function_result(f.oid), '')) AS text
) signature
CROSS JOIN LATERAL (
    SELECT regexp_replace(replace(signature.text, 'timestamp with time zone', 'timestamptz'), 'DEFAULT NULL::\w+(\[\])?', 'DEFAULT NULL', 'g')
        AS text
) short
CROSS JOIN LATERAL (
    SELECT string_agg(rtrim(regexp_replace(part.text, '(.{1,72})( +|$)', E'\\1\n', 'g'), E'\n'), E'\n\n' ORDER BY part.number) AS what
    FROM unnest(ARRAY[short.text, f.comment]) WITH ORDINALITY AS part (text, number)
) described
WHERE f.comment NOT LIKE 'Internal%' AND (topic IS NULL OR f.name = topic OR strpos(substr(f.name, 10), topic) > 0)
ORDER BY array_position(ARRAY[
    'jobstats_help',
    'jobstats_now', 'jobstats_top', 'jobstats_changes', 'jobstats_usual', 'jobstats_rates', 'jobstats_totals', 'jobstats_summary', 'jobstats_findings', 'jobstats_verdict', 'jobstats_job', 'jobstats_runs', 'jobstats_summaries', 'jobstats_compare', 'jobstats_attributed', 'jobstats_balance', 'jobstats_unaccounted',
    'jobstats_events', 'jobstats_explain', 'jobstats_queues', 'jobstats_used',
    'jobstats_densities', 'jobstats_sizes', 'jobstats_targets', 'jobstats_work', 'jobstats_entries', 'jobstats_kept',
    'jobstats_operations', 'jobstats_format', 'jobstats_metrics', 'jobstats_alerts',
    'jobstats_setup', 'jobstats_forever', 'jobstats_attach', 'jobstats_detach', 'jobstats_nodes', 'jobstats_maintain', 'jobstats_maintain_job', 'jobstats_watch', 'jobstats_watch_job', 'jobstats_judge', 'jobstats_maintenance_window', 'jobstats_convert', 'jobstats_grant_writer',
    'jobstats_grant_reader', 'jobstats_grant_own', 'jobstats_grant_speaker', 'jobstats_personal_data', 'jobstats_forget_user', 'jobstats_retire_target', 'jobstats_rename_target', 'jobstats_drop_targets', 'jobstats_ingest', 'jobstats_reidentify', 'jobstats_audit', 'jobstats_reprocess', 'jobstats_reread',
    'jobstats_parse', 'jobstats_problems', 'jobstats_identify', 'jobstats_fold', 'jobstats_unpack',
    'jobstats_counter_agg', 'jobstats_increase', 'jobstats_rate', 'jobstats_resets', 'jobstats_elapsed', 'jobstats_first',
    'jobstats_last', 'jobstats_density_agg', 'jobstats_buckets', 'jobstats_count', 'jobstats_zeros', 'jobstats_rollup',
    'jobstats_share'], f.name), pg_get_function_identity_arguments(f.oid);

IF NOT FOUND THEN
    SELECT string_agg('jobstats_' || s.name, ', ' ORDER BY s.number) INTO similar_names
    FROM unnest(jobstats_internal.nearest(regexp_replace(topic, '^jobstats_', ''), ARRAY(
        SELECT substr(h.name, 10) FROM @extschema@.jobstats_help() h GROUP BY h.name ORDER BY h.name))) WITH ORDINALITY AS s (name, number);
    RAISE NOTICE USING MESSAGE = format('no function of jobstats is called "%s", or contains it', left(topic, 60)),
        HINT = coalesce('Similar names are ' || similar_names || '.', 'jobstats_help() lists all functions.');
END IF;
END
$$;
COMMENT ON FUNCTION jobstats_help(text) IS
'Lists the functions of jobstats, or explains those of a topic. Without a topic there is one row per function, in one sentence: questions first, then the store, text, and summaries for any table. A topic is a function, or a part of its name without jobstats_: the arguments, columns and the whole comment of each function that it fits, in lines of 72 characters. A NOTICE names functions with similar names where it fits none.';

CREATE FUNCTION jobstats_fold(name text) RETURNS text
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_fold_wrapper';
COMMENT ON FUNCTION jobstats_fold(text) IS
'Folds the numbers in the name of a job: task_17 becomes task_#. So the tasks of a workflow engine, each of which is a job with a number in its name, can be grouped. A number is a run of the digits 0 to 9, whatever stands beside it; all other characters stay. NULL for NULL. Errors: 54000 for a name of over 1 MB.';

CREATE FUNCTION jobstats_identify(entry text, formats text[] DEFAULT NULL) RETURNS TABLE (
    job text, uid bigint, gid bigint, node text, executable text, pid bigint, format text, status text
)
LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'jobstats_identify_wrapper';
COMMENT ON FUNCTION jobstats_identify(text, text[]) IS
'Tells the job, user and node of an entry identifier. The first format (jobid_name as on the clients) that matches counts; formats NULL stands for those in jobstats.entry_formats, or %j:%u:%H and %e.%u where there is no store. Of these, the formats of the clusters count that have sent the entry, or of all if it is not stored; only what all of them read alike is known. An identifier that none matches is the number of a job alone, or the beginning of an identifier, if it can be only one. node ends at its first dot. status is ok, missing_job, truncated, partial or malformed. entry NULL gives no row. Errors: 22023 for an invalid format or over a hundred, 22001 for an entry of over 255 bytes, which no server prints.';

CREATE FUNCTION jobstats_internal.nearest(name text, known text[]) RETURNS text[]
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_nearest_wrapper';
COMMENT ON FUNCTION jobstats_internal.nearest(text, text[]) IS
'Internal: those of the known names that are most like a name, the nearest first.';

CREATE FUNCTION jobstats_internal.escaped(sentence text) RETURNS text
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_escaped_wrapper';
COMMENT ON FUNCTION jobstats_internal.escaped(text) IS
'Internal: a sentence in which control characters, which names from texts can have, are escaped.';

CREATE FUNCTION jobstats_operations() RETURNS TABLE (
    operation text, kind text, unit text, mdt boolean, ost boolean, metadata boolean, service_time boolean,
    doubles text, system_calls text, meaning text, since text
)
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_operations_wrapper';
COMMENT ON FUNCTION jobstats_operations() IS
'Lists the operations that Lustre counts. kind is requests or bytes, unit that of the column of the same name; mdt and ost say which targets report it, metadata and service_time whether it is part of that derived operation, doubles names the operation in which its calls are also counted, since the first Lustre release that reports it.';

CREATE FUNCTION jobstats_parse(body text) RETURNS TABLE (
    target text, entry text, snapshot_time numeric, start_time numeric, clock text, operation text, samples numeric,
    unit text, min numeric, max numeric, sum numeric, sumsq numeric, hist jsonb, line integer
)
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_parse_wrapper';
COMMENT ON FUNCTION jobstats_parse(text) IS
'Splits a text of job_stats into rows, one per operation. Each line is as printed; only the lines that jobstats_problems() shows are left out. target is NULL where the text has no name, entry is empty where the identifier is blank. Times are in seconds on the clock epoch or boot (Lustre 2.15.0 and 2.15.1); what a line does not have is NULL. Body NULL gives no row. Many rows go through a temporary file. Error: 53200 out of memory.';

CREATE FUNCTION jobstats_problems(body text) RETURNS TABLE (
    line integer, target text, entry text, reason text, text text
)
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_problems_wrapper';
COMMENT ON FUNCTION jobstats_problems(text) IS
'Lists the lines of a text of job_stats that cannot be used. Columns: line (from 1), target and entry where known, reason and the line itself, of a long one the first 64 kB. Other parameters of lctl, its error messages and unknown lines of the form key: value inside a record are not listed. Body NULL gives no row. Many rows go through a temporary file. Error: 53200 out of memory.';

CREATE FUNCTION jobstats_unpack(packed bytea) RETURNS text
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_unpack_wrapper';
COMMENT ON FUNCTION jobstats_unpack(bytea) IS
'Returns the text in zstd data. NUL and bytes that are not UTF-8 are shown as \xHH. Errors: 22P03 for anything but zstd, 54000 over 1 GB, or over 16 MB and 500 times the size of the data, 53200 out of memory.';
