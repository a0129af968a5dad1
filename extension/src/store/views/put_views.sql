CREATE FUNCTION jobstats_internal.put_views(views text[], definitions text[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    failed text[] := '{}';
    outdated text[];
    others text;
    grants text[];
    statement text;
BEGIN
    FOR n IN 1 .. cardinality(views) LOOP
        BEGIN
            IF NOT jobstats_internal.is_view(views[n], definitions[n]) THEN
                EXECUTE definitions[n];
            END IF;
        EXCEPTION WHEN invalid_table_definition OR undefined_column THEN
            -- CREATE OR REPLACE VIEW can neither remove nor rename columns, and a view on such a view lacks new columns of it.
            failed := failed || views[n];
        END;
    END LOOP;
    IF cardinality(failed) = 0 THEN
        RETURN;
    END IF;

    SELECT coalesce(array_agg(d.name) FILTER (WHERE d.is_own), '{}'), string_agg(d.name, ', ' ORDER BY d.name) FILTER (WHERE NOT d.is_own)
    INTO outdated, others
    FROM jobstats_internal.dependents(failed, views) d;
    IF others IS NOT NULL THEN
        RAISE dependent_objects_still_exist USING
            MESSAGE = format('views of jobstats have other columns in this version, and others depend on them: %s', others),
            HINT = 'Nothing has changed. Keep the definitions of these, drop them, run jobstats_setup(), and make them again.';
    END IF;
    grants := jobstats_internal.grants_on(outdated);
    FOR n IN REVERSE cardinality(views) .. 1 LOOP
        IF views[n] = ANY (outdated) THEN
            EXECUTE format('DROP VIEW jobstats.%I', views[n]);
        END IF;
    END LOOP;
    FOR n IN 1 .. cardinality(views) LOOP
        IF views[n] = ANY (failed || outdated) THEN
            EXECUTE definitions[n];
        END IF;
    END LOOP;
    FOREACH statement IN ARRAY grants LOOP
        BEGIN
            EXECUTE statement;
        EXCEPTION WHEN undefined_column THEN
            -- The right was one on a column that is gone.
            NULL;
        END;
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_internal.put_views(text[], text[]) IS
'Internal: makes views of the store, each after those that it is on, by CREATE OR REPLACE VIEW where they have changed; makes those anew that it cannot replace, with the rights on them. Errors: 2BP01 where objects of others depend on one of these.';

CREATE FUNCTION jobstats_internal.is_view(name text, definition text) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    stored text := pg_get_viewdef(to_regclass(format('jobstats.%I', name)));
    wanted text;
BEGIN
    IF stored IS NULL THEN
        RETURN false;
    END IF;
    EXECUTE regexp_replace(definition, 'CREATE OR REPLACE VIEW jobstats\.\w+', 'CREATE VIEW jobstats.pattern_of_view');
    wanted := pg_get_viewdef(to_regclass('jobstats.pattern_of_view'));
    DROP VIEW jobstats.pattern_of_view;
    RETURN stored = wanted;
END
$$;
COMMENT ON FUNCTION jobstats_internal.is_view(text, text) IS
'Internal: whether a view of the store is what its definition makes. It is then left alone: CREATE OR REPLACE VIEW waits for all who read it, whatever it changes.';

CREATE FUNCTION jobstats_internal.dependents(outdated text[], views text[]) RETURNS TABLE (name text, is_own boolean)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
WITH RECURSIVE own AS (
    SELECT c.oid, c.relname::text AS name FROM pg_class c
    WHERE c.relnamespace = to_regnamespace('jobstats') AND c.relkind = 'v' AND c.relname = ANY (views)
),
found (classid, objid) AS (
    SELECT 'pg_class'::regclass::oid, o.oid FROM own o WHERE o.name = ANY (outdated)
    UNION
    SELECT CASE WHEN w.oid IS NULL THEN d.classid ELSE 'pg_class'::regclass::oid END, coalesce(w.ev_class, d.objid)
    FROM found f
    -- Row types belong to relations, and so do triggers, which would be dropped with a view.
    JOIN pg_depend d ON d.refclassid = f.classid AND d.refobjid = f.objid
        AND (d.deptype = 'n' OR d.classid IN ('pg_type'::regclass, 'pg_trigger'::regclass))
    LEFT JOIN pg_rewrite w ON d.classid = 'pg_rewrite'::regclass AND w.oid = d.objid
)
SELECT coalesce(o.name, pg_describe_object(f.classid, f.objid, 0)), o.oid IS NOT NULL
FROM found f
LEFT JOIN own o ON f.classid = 'pg_class'::regclass AND o.oid = f.objid
WHERE f.classid <> 'pg_type'::regclass
$$;
COMMENT ON FUNCTION jobstats_internal.dependents(text[], text[]) IS
'Internal: those of the views of the store that are outdated, and all that depends on them; own are the views of the store.';

CREATE FUNCTION jobstats_internal.grants_on(views text[]) RETURNS text[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT coalesce(array_agg(format('GRANT %s%s ON jobstats.%I TO %s%s', g.privilege, ' (' || quote_ident(g.column_name) || ')', g.view,
    CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(g.grantee)) END,
    CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' END)), '{}')
FROM (
    SELECT c.relname AS view, NULL::name AS column_name, a.privilege_type AS privilege, a.grantee, a.is_grantable, c.relowner
    FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a
    WHERE c.relnamespace = to_regnamespace('jobstats') AND c.relname = ANY (views)
    UNION ALL
    SELECT c.relname, t.attname, a.privilege_type, a.grantee, a.is_grantable, c.relowner
    FROM pg_class c
    JOIN pg_attribute t ON t.attrelid = c.oid
    CROSS JOIN LATERAL aclexplode(t.attacl) a
    WHERE c.relnamespace = to_regnamespace('jobstats') AND c.relname = ANY (views)
) g
WHERE g.grantee <> g.relowner
$$;
COMMENT ON FUNCTION jobstats_internal.grants_on(text[]) IS
'Internal: the statements that grant again what others than their owner may do with views of the store.';
