CREATE FUNCTION jobstats_internal.put_view(view text, definition text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    EXECUTE definition;
EXCEPTION WHEN invalid_table_definition THEN
    -- CREATE OR REPLACE VIEW can neither remove columns nor change their order.
    EXECUTE format('DROP VIEW jobstats.%I', view);
    EXECUTE definition;
END
$$;
COMMENT ON FUNCTION jobstats_internal.put_view(text, text) IS
'Internal: makes a view of the store by a CREATE OR REPLACE VIEW, or makes it anew.';
