-- TimescaleDB can be in any schema, often in one in which other roles may create objects.

CREATE FUNCTION jobstats_internal.timescale_schema() RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    timescale pg_extension;
    beside regprocedure;
BEGIN
    SELECT * INTO timescale FROM pg_extension e WHERE e.extname = 'timescaledb';
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    -- PostgreSQL would prefer an overload that fits the arguments better.
    SELECT p.oid INTO beside
    FROM pg_proc p
    WHERE p.pronamespace = timescale.extnamespace
        AND p.proname IN ('add_job', 'compress_chunk', 'create_hypertable', 'decompress_chunk', 'drop_chunks', 'hypertable_size',
            'set_chunk_time_interval', 'time_bucket')
        AND NOT EXISTS (
            SELECT FROM pg_depend d
            WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
                AND d.refclassid = 'pg_extension'::regclass AND d.refobjid = timescale.oid)
    LIMIT 1;
    IF FOUND THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = format('function %s stands beside a function of TimescaleDB and could be called in its place', beside),
            HINT = format('Drop it, and let nobody else create in the schema: REVOKE CREATE ON SCHEMA %s FROM PUBLIC;',
                timescale.extnamespace::regnamespace::text);
    END IF;
    RETURN quote_ident((SELECT n.nspname FROM pg_namespace n WHERE n.oid = timescale.extnamespace));
END
$$;
COMMENT ON FUNCTION jobstats_internal.timescale_schema() IS
'Internal: the schema of TimescaleDB, quoted; NULL where that is not installed. Error: 55000 where a function there could be called in the place of one of TimescaleDB.';

CREATE FUNCTION jobstats_internal.hypertables() RETURNS TABLE (relation text, hypertable regclass, packed_by text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension e WHERE e.extname = 'timescaledb') THEN
        RETURN;
    END IF;
    -- The Apache edition has no columnstore, and no view that says of one.
    RETURN QUERY EXECUTE format($sql$
        SELECT h.hypertable_name::text, t.oid::regclass, %s
        FROM timescaledb_information.hypertables h
        CROSS JOIN LATERAL (SELECT format('%%I.%%I', h.hypertable_schema, h.hypertable_name)::regclass) AS t (oid)
        WHERE h.hypertable_schema = 'jobstats'
    $sql$, CASE WHEN current_setting('timescaledb.license', true) = 'timescale'
        THEN 'CASE WHEN h.compression_enabled THEN (SELECT c.orderby FROM timescaledb_information.hypertable_compression_settings c WHERE c.hypertable = t.oid) END'
        ELSE 'NULL::text' END);
END
$$;
COMMENT ON FUNCTION jobstats_internal.hypertables() IS
'Internal: the tables of the store that are hypertables of TimescaleDB, and the order in which their old chunks are packed; NULL: they stay in rows.';
