-- Who may write and who may read.

CREATE FUNCTION jobstats_internal.require_role(role name) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF role IS NULL THEN
        RAISE null_value_not_allowed USING MESSAGE = 'role must not be NULL', HINT = 'Name the role, as in ''shipper''.';
    ELSIF NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = role) THEN
        RAISE undefined_object USING
            MESSAGE = format('role "%s" does not exist', role),
            HINT = format('Create it first: CREATE ROLE %I LOGIN PASSWORD …;', role);
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.require_role IS 'Internal: fails with 22004 for NULL, with 42704 where there is no such role.';

CREATE FUNCTION jobstats_internal.require_bound(what text, bound text) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF octet_length(bound) > 255 THEN
        RAISE string_data_right_truncation USING
            MESSAGE = format('%s has more than 255 bytes', what), HINT = 'Use a shorter name: longer ones cannot be fed.';
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.require_bound IS 'Internal: fails with 22001 for a name that is too long.';

-- Runs with the rights of the extension's owner. DROP OWNED would leave grants of another role, and the grantee could not be dropped.
-- It only reads catalogs.
CREATE FUNCTION jobstats_internal.share_functions_on_text() RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    routine regprocedure;
    grantee text;
BEGIN
    FOR routine, grantee IN
        SELECT p.oid, CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(g.grantee)) END
        FROM pg_extension e
        JOIN pg_proc p ON p.pronamespace = e.extnamespace
            AND p.proname IN ('jobstats_parse', 'jobstats_unpack', 'jobstats_identify')
        JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
            AND d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
        CROSS JOIN (
            SELECT DISTINCT a.grantee
            FROM pg_namespace n
            JOIN pg_class c ON c.relnamespace = n.oid
            CROSS JOIN aclexplode(c.relacl) AS a
            WHERE n.nspname = 'jobstats' AND (c.relname, a.privilege_type) IN (('raw', 'SELECT'), ('feed', 'INSERT'))
        ) AS g
        -- A member of a role that may call it is let do so by itself too: it does not matter then who was granted first.
        WHERE e.extname = 'jobstats' AND NOT EXISTS (
            SELECT FROM aclexplode(p.proacl) AS f WHERE f.grantee = g.grantee AND f.privilege_type = 'EXECUTE')
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', routine, grantee);
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_internal.share_functions_on_text IS
'Internal: grants the functions that take text to all roles that may read raw text, or feed.';

CREATE FUNCTION jobstats_internal.hidden_tables() RETURNS TABLE (name text, relation regclass)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT h.name, to_regclass('jobstats.' || h.name) FROM (VALUES ('texts'), ('secrets'), ('forgotten')) AS h (name)
$$;
COMMENT ON FUNCTION jobstats_internal.hidden_tables IS
'Internal: the tables that the owner of the store alone may read; relation NULL: it is not there.';

CREATE FUNCTION jobstats_internal.hide_from_readers(role name DEFAULT NULL) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    hidden regclass;
    grantee text;
BEGIN
    FOR hidden, grantee IN
        SELECT DISTINCT c.oid::regclass, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END
        FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a
        WHERE c.oid IN (SELECT h.relation FROM jobstats_internal.hidden_tables() h)
            AND a.grantee <> c.relowner
            AND (hide_from_readers.role IS NULL OR a.grantee = (SELECT r.oid FROM pg_roles r WHERE r.rolname = hide_from_readers.role))
    LOOP
        EXECUTE format('REVOKE ALL ON %s FROM %s', hidden, grantee);
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_internal.hide_from_readers IS
'Internal: revokes from a role the rights on texts, secrets and forgotten users that come with rights on all tables; NULL: from all roles but the owner.';

CREATE FUNCTION jobstats_internal.forget_roles() RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
-- They are nobody's rights, unless a new role gets the number of an old one.
DELETE FROM jobstats.writers w WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = w.role);
DELETE FROM jobstats.members m WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = m.role);
DELETE FROM jobstats.proxies s WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = s.role);
DELETE FROM jobstats.pseudonym_readers n WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = n.role)
$$;
COMMENT ON FUNCTION jobstats_internal.forget_roles IS 'Internal: deletes the rights of dropped roles.';

CREATE FUNCTION jobstats_grant_writer(
    role name, cluster text DEFAULT NULL, server text DEFAULT NULL, target text DEFAULT NULL, sources text[] DEFAULT '{lctl}'
) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
<<own>>
DECLARE
    role regrole;
    sources text[];
BEGIN
    PERFORM jobstats_internal.require_store();
    PERFORM jobstats_internal.require_role(jobstats_grant_writer.role);
    PERFORM jobstats_internal.require_bound('cluster', cluster), jobstats_internal.require_bound('server', server),
        jobstats_internal.require_bound('target', target);
    own.sources := jobstats_internal.known_sources(jobstats_grant_writer.sources);
    EXECUTE format('GRANT USAGE ON SCHEMA jobstats TO %I', jobstats_grant_writer.role);
    EXECUTE format('GRANT INSERT ON jobstats.feed TO %I', jobstats_grant_writer.role);
    PERFORM jobstats_internal.share_functions_on_text();
    own.role := quote_ident(jobstats_grant_writer.role)::regrole;
    IF num_nonnulls(cluster, server, target) = 0
        AND EXISTS (SELECT FROM jobstats.writers w
            WHERE w.role = own.role AND num_nonnulls(w.cluster, w.server, w.target) > 0 AND w.sources && own.sources) THEN
        RAISE NOTICE USING
            MESSAGE = format('role %s is still restricted by jobstats.writers', own.role),
            HINT = format('To let it feed everything: DELETE FROM jobstats.writers WHERE role = %L::regrole; and grant again.', own.role);
        RETURN;
    END IF;
    -- What allows more of these sources would make the new bound void.
    UPDATE jobstats.writers w
    SET sources = ARRAY(SELECT s.source FROM unnest(w.sources) WITH ORDINALITY AS s (source, number)
        WHERE s.source <> ALL (own.sources) ORDER BY s.number)
    WHERE w.role = own.role AND w.sources && own.sources
        AND (w.cluster IS NULL OR w.cluster = jobstats_grant_writer.cluster)
        AND (w.server IS NULL OR w.server = jobstats_grant_writer.server)
        AND (w.target IS NULL OR w.target = jobstats_grant_writer.target);
    DELETE FROM jobstats.writers w WHERE w.role = own.role AND cardinality(w.sources) = 0;
    INSERT INTO jobstats.writers AS w (role, cluster, server, target, sources)
    VALUES (own.role, jobstats_grant_writer.cluster, jobstats_grant_writer.server, jobstats_grant_writer.target, own.sources)
    ON CONFLICT (role, cluster, server, target) DO UPDATE
    SET sources = jobstats_internal.known_sources(w.sources || excluded.sources);
END
$$;
COMMENT ON FUNCTION jobstats_grant_writer IS
'Lets a role feed the store, and only that. For this cluster, these servers and targets (patterns with *; NULL: any) and sources. Each call adds a row to jobstats.writers. Errors: 0A000 unknown source, 22001, 22004, 22023 no source, 42501 not the owner, 42704 no such role, 55000 no store.';

CREATE FUNCTION jobstats_internal.require_limited(role name) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM jobstats_internal.require_store();
    PERFORM jobstats_internal.require_role(role);
    IF has_table_privilege(role, 'jobstats.entries', 'SELECT') THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = format('role "%s" may read the whole store', role),
            HINT = 'Use another role, or revoke the rights on the schema jobstats from it and from the roles it belongs to.';
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.require_limited IS 'Internal: fails as require_role() does, and with 55000 for a role that may read the store.';

CREATE FUNCTION jobstats_grant_reader(role name, names boolean DEFAULT true) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    kind text;
BEGIN
    PERFORM jobstats_internal.require_store();
    PERFORM jobstats_internal.require_role(jobstats_grant_reader.role);
    IF names IS NULL THEN
        RAISE null_value_not_allowed USING MESSAGE = 'names must not be NULL', HINT = 'Give true, or false for pseudonyms in place of users and jobs.';
    ELSIF NOT names THEN
        PERFORM jobstats_internal.require_limited(jobstats_grant_reader.role);
        INSERT INTO jobstats.pseudonym_readers (role) VALUES (quote_ident(jobstats_grant_reader.role)::regrole) ON CONFLICT DO NOTHING;
        RETURN;
    END IF;
    EXECUTE format('GRANT USAGE ON SCHEMA jobstats TO %I', jobstats_grant_reader.role);
    -- pg_dump reads sequences too. What jobstats_setup() and maintenance will make belongs to it as well.
    FOREACH kind IN ARRAY ARRAY['TABLES', 'SEQUENCES'] LOOP
        EXECUTE format('GRANT SELECT ON ALL %s IN SCHEMA jobstats TO %I', kind, jobstats_grant_reader.role);
        EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE %I IN SCHEMA jobstats GRANT SELECT ON %s TO %I',
            (SELECT pg_get_userbyid(n.nspowner) FROM pg_namespace n WHERE n.nspname = 'jobstats'), kind, jobstats_grant_reader.role);
    END LOOP;
    PERFORM jobstats_internal.hide_from_readers(jobstats_grant_reader.role);
    PERFORM jobstats_internal.share_functions_on_text();
END
$$;
COMMENT ON FUNCTION jobstats_grant_reader IS
'Lets a role read the store, and dump it. Hidden are jobstats.texts, jobstats.secrets and jobstats.forgotten. names => false: no right on tables, pseudonyms of users and jobs in functions. Errors: 22004, 42501 not the owner, 42704 no such role, 55000 no store, or no names for a role that reads it.';

CREATE FUNCTION jobstats_grant_own(role name, uid bigint DEFAULT NULL, account text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM jobstats_internal.require_limited(jobstats_grant_own.role);
    IF num_nonnulls(jobstats_grant_own.uid, jobstats_grant_own.account) = 0 THEN
        RAISE null_value_not_allowed USING
            MESSAGE = 'neither uid nor account is given',
            HINT = 'Give the number of the user, the account that the role manages, or both.';
    END IF;
    IF jobstats_grant_own.uid NOT BETWEEN 0 AND 4294967295 THEN
        RAISE invalid_parameter_value USING
            MESSAGE = format('no user has the number %s', jobstats_grant_own.uid), HINT = 'Give a number as printed by id -u.';
    END IF;
    INSERT INTO jobstats.members (role, uid, account)
    SELECT quote_ident(jobstats_grant_own.role)::regrole, m.uid, m.account
    FROM (VALUES (jobstats_grant_own.uid, NULL), (NULL, jobstats_grant_own.account)) AS m (uid, account)
    WHERE num_nonnulls(m.uid, m.account) = 1
    ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION jobstats_grant_own IS
'Lets a role see the I/O of one user or one account. Reading functions show the role and its members only this, and totals of targets. Each call adds a user or account. Errors: 22004 no role, or neither uid nor account, 22023 invalid uid, 42501, 42704, 55000 may read the store, or no store.';

CREATE FUNCTION jobstats_grant_proxy(role name) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM jobstats_internal.require_limited(jobstats_grant_proxy.role);
    INSERT INTO jobstats.proxies (role) VALUES (quote_ident(jobstats_grant_proxy.role)::regrole) ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION jobstats_grant_proxy IS
'Lets a front end query for other users. With jobstats.on_behalf_of = a role, it sees what jobstats.members lets that role see; = uid:1000: that user, and accounts in jobstats.managers; not set: 42501. Errors: 22004, 42501, 42704 no such role, 55000 may read the store, or no store.';

CREATE FUNCTION jobstats_internal.own_uids() RETURNS bigint[]
LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'own_uids_wrapper';
COMMENT ON FUNCTION jobstats_internal.own_uids IS
'Internal: the users whose I/O the caller may see; NULL: all, or no user. Error: 42501 for a proxy that does not name a user.';

CREATE FUNCTION jobstats_internal.as_owner(work text, state text) RETURNS text
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'MODULE_PATHNAME', 'as_owner_wrapper';
COMMENT ON FUNCTION jobstats_internal.as_owner IS
'Internal: takes the next step of a task (maintain, convert, forget, drop targets, watch) with the rights of the store''s owner, and returns the state for the following step as text; NULL: complete. Errors: 42501 without the rights of the owner, 55000 no store.';
