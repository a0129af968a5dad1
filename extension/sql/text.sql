-- Functions on text, which need no store.

CREATE FUNCTION jobstats_internal.as_like(patterns text[]) RETURNS text[]
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_as_like_wrapper';
COMMENT ON FUNCTION jobstats_internal.as_like IS 'Internal: LIKE patterns of these patterns, in which only * is special.';

CREATE FUNCTION jobstats_internal.exactly(name text) RETURNS text
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_exactly_wrapper';
COMMENT ON FUNCTION jobstats_internal.exactly IS 'Internal: the pattern that matches a name alone, with \* for a star.';

-- The first sentence of a function's COMMENT ON fits a line.
CREATE FUNCTION jobstats_help(topic text DEFAULT NULL) RETURNS TABLE (name text, what text)
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    similar_names text;
BEGIN
IF topic = 'filter' THEN
    RETURN QUERY SELECT d.name, d.meaning FROM jobstats_internal.dimensions() d
        UNION ALL VALUES ('', 'Blank: and. Comma: or. *: any characters. key=: no value. key="a b": a value with a blank.');
    RETURN;
END IF;
RETURN QUERY
WITH groups (number, room, about, names) AS (
    VALUES
        (1, 'questions', 'Who does what to the file systems?',
            '{now,top,changes,baseline,rates,totals,summary,balance,untracked,densities,io_sizes,queues,space,targets}'::text[]),
        (2, 'jobs', 'What did jobs do, and what could be better?', '{jobs,job,job_usage,compare,findings,verdict}'),
        (3, 'events', 'What went wrong, and whose I/O was it?', '{events,explain,detect,confirm_event,silence,alerts}'),
        (4, 'administration', 'The store, its targets, its readers and writers.',
            '{setup,maintain,convert,ingest,alter_target,drop_targets,reidentify,audit,reprocess,metrics,grant_writer,grant_reader,grant_own,grant_proxy,personal_data,forget_user,attach,detach}'),
        (5, 'text', 'Text from Lustre, and how to read numbers. No store is needed.', '{help,operations,format,parse,identify,unpack}'),
        (6, 'aggregates', 'Counters and densities of any table.',
            '{counter_agg,counter_increase,counter_rate,counter_resets,counter_elapsed,counter_first,counter_last,density_agg,density_buckets,density_count,density_zeros,rollup}'),
        (7, 'filter', 'The keys of filter and exclude.', '{}')
), functions AS (
    SELECT p.oid, p.proname::text AS name, p.prokind, obj_description(p.oid, 'pg_proc') AS comment, g.number, g.room,
        array_position(g.names, substr(p.proname, 10)) AS place
    FROM pg_extension e
    JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
    JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
    JOIN groups g ON substr(p.proname, 10) = ANY (g.names)
    WHERE e.extname = 'jobstats' AND starts_with(p.proname, 'jobstats_')
), listed AS (
    SELECT f.number, f.place, f.oid, f.name,
        CASE WHEN topic IS NULL OR topic = f.room THEN substring(f.comment FROM '^.*?\.(?=\s|$)') ELSE described.what END AS what
    FROM functions f
    CROSS JOIN LATERAL (
        SELECT concat(CASE f.prokind WHEN 'p' THEN 'CALL ' END, f.name, '(', pg_get_function_arguments(f.oid), ')',
            ' RETURNS ' || nullif(pg_get_function_result(f.oid), '')) AS text
    ) signature
    CROSS JOIN LATERAL (
        -- Without the schema of types, and the type of literals.
        SELECT regexp_replace(regexp_replace(replace(signature.text, 'timestamp with time zone', 'timestamptz'),
            '[^ (]+\.(jobstats_(filter|counter|density))', '\1', 'g'), '(NULL|''[^'']*''(?=::text))::(double precision|\w+)(\[\])?', '\1', 'g') AS text
    ) short
    CROSS JOIN LATERAL (
        SELECT string_agg(rtrim(regexp_replace(part.text, '(.{1,72})( +|$)', E'\\1\n', 'g'), E'\n'), E'\n\n' ORDER BY part.number) AS what
        FROM unnest(ARRAY[short.text, f.comment]) WITH ORDINALITY AS part (text, number)
    ) described
    WHERE topic IS NULL OR f.room = topic OR f.name = topic OR strpos(substr(f.name, 10), topic) > 0
    UNION ALL
    SELECT g.number, 0, NULL, g.room, g.about FROM groups g WHERE topic IS NULL
)
SELECT l.name, l.what FROM listed l
ORDER BY l.number, l.place, pg_get_function_identity_arguments(l.oid);

IF NOT FOUND THEN
    SELECT string_agg(s.name, ', ' ORDER BY s.number) INTO similar_names
    FROM unnest(jobstats_internal.nearest(regexp_replace(topic, '^jobstats_', ''), ARRAY(
        SELECT DISTINCT regexp_replace(h.name, '^jobstats_', '') AS name FROM @extschema@.jobstats_help() h ORDER BY name))) WITH ORDINALITY AS s (name, number);
    RAISE NOTICE USING MESSAGE = format('no jobstats function has a name like "%s"', left(topic, 60)),
        HINT = coalesce('Similar topics are ' || similar_names || '.', 'SELECT * FROM jobstats_help(); lists all topics.');
END IF;
END
$$;
COMMENT ON FUNCTION jobstats_help IS
'Lists the functions of jobstats, or explains a topic. topic: a group (questions, jobs, events, administration, text, aggregates), a function or part of its name without jobstats_ (arguments, columns, comment), or filter (keys of filters). If nothing matches, a NOTICE names similar functions.';

CREATE FUNCTION jobstats_internal.fold(name text) RETURNS text
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_fold_wrapper';
COMMENT ON FUNCTION jobstats_internal.fold IS 'Internal: the name of a job without its numbers, so that the jobs of a workflow have one name.';

CREATE FUNCTION jobstats_identify(entry text, formats text[] DEFAULT NULL) RETURNS TABLE (
    job text, uid bigint, gid bigint, node text, executable text, pid bigint, format text, status text
)
LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'jobstats_identify_wrapper';
COMMENT ON FUNCTION jobstats_identify IS
'Splits the identifier of an entry into job, user and node. The first format that matches counts; formats NULL: jobstats.entry_formats, or %u:%j:%H and %e.%u. status: ok, missing_job, truncated, partial or malformed. Errors: 22001 over 255 bytes, 22023 invalid format or over a hundred, 42501.';

CREATE FUNCTION jobstats_internal.nearest(name text, known text[]) RETURNS text[]
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_nearest_wrapper';
COMMENT ON FUNCTION jobstats_internal.nearest IS 'Internal: the known names most similar to a name, the nearest first.';

CREATE FUNCTION jobstats_internal.escaped(sentence text) RETURNS text
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_escaped_wrapper';
COMMENT ON FUNCTION jobstats_internal.escaped IS 'Internal: a sentence in which control characters, which names from texts can have, are escaped.';

CREATE FUNCTION jobstats_operations() RETURNS TABLE (
    operation text, kind text, unit text, mdt boolean, ost boolean, metadata boolean, service_time boolean,
    doubles text, system_calls text, meaning text, since text
)
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_operations_wrapper';
COMMENT ON FUNCTION jobstats_operations IS
'Lists the operations that Lustre counts. kind: requests or bytes; mdt, ost: whether these targets report it; metadata, service_time: whether these derived operations include it; doubles: the operation that counts the same calls, too; since: the first Lustre release that reports it.';

CREATE FUNCTION jobstats_parse(body text) RETURNS TABLE (
    line integer, target text, entry text, operation text, samples numeric, unit text, min numeric, max numeric, sum numeric,
    sumsq numeric, hist jsonb, snapshot_time numeric, start_time numeric, clock text, problem text, text text
)
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_parse_wrapper';
COMMENT ON FUNCTION jobstats_parse IS
'Splits a text of job_stats into rows, one per operation. Values are as printed. A line that cannot be used has problem (the reason) and text (the line). Times are seconds on the clock epoch or boot (Lustre 2.15.0, 2.15.1). target is NULL if the text has no name. Error: 53200 out of memory.';

CREATE FUNCTION jobstats_unpack(packed bytea) RETURNS text
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_unpack_wrapper';
COMMENT ON FUNCTION jobstats_unpack IS
'Returns the text in zstd data. NUL and bytes that are not UTF-8 are shown as \xHH. Errors: 22P03 for anything but zstd, 54000 over 1 GB, or over 16 MB and 500 times the size of the data, 53200 out of memory.';
