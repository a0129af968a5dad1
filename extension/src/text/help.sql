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
