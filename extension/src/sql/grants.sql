-- Who may write and who may read.

CREATE FUNCTION jobstats_grant_writer(role name, cluster text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM jobstats_internal.require_store();
    EXECUTE format('GRANT USAGE ON SCHEMA jobstats TO %I', role);
    EXECUTE format('GRANT INSERT ON jobstats.feed TO %I', role);
    IF cluster IS NOT NULL THEN
        INSERT INTO jobstats.writers VALUES (quote_ident(role)::regrole, cluster) ON CONFLICT DO NOTHING;
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_grant_writer(name, text) IS
'Lets a role feed, and do nothing else. With a cluster the role, and whoever has its rights, may feed only that one (call it again for more). Errors: 42704 for an unknown role, 55000 where there is no store.';

CREATE FUNCTION jobstats_grant_reader(role name) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM jobstats_internal.require_store();
    EXECUTE format('GRANT USAGE ON SCHEMA jobstats TO %I', role);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA jobstats TO %I', role);
    -- Also on what jobstats_setup() will make anew.
    EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE %I IN SCHEMA jobstats GRANT SELECT ON TABLES TO %I',
        (SELECT pg_get_userbyid(n.nspowner) FROM pg_namespace n WHERE n.nspname = 'jobstats'), role);
END
$$;
COMMENT ON FUNCTION jobstats_grant_reader(name) IS
'Lets a role read the store. Errors: 42704 for an unknown role, 55000 where there is no store.';
