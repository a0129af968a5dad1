-- jobstats_setup(), and the parts of the store that it creates and repairs.

CREATE FUNCTION jobstats_internal.set_comments() RETURNS void
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'jobstats_set_comments_wrapper';
COMMENT ON FUNCTION jobstats_internal.set_comments IS
'Internal: sets the comments on relations and columns of the store that are missing or have changed.';

-- A published table needs a replica identity for UPDATE and DELETE. A primary key of increments and rollups would double the cost of feeds, so all
-- columns are the identity there. Chunks inherit it from their hypertable; partitions have their own.
CREATE FUNCTION jobstats_internal.give_replica_identity() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    keyless regclass;
BEGIN
    FOR keyless IN
        SELECT c.oid FROM pg_class c
        WHERE c.relkind IN ('r', 'p') AND c.relreplident = 'd' AND c.relowner = (SELECT n.nspowner FROM pg_namespace n WHERE n.nspname = 'jobstats')
            -- A continuous aggregate is a view on a hypertable of TimescaleDB's schema.
            AND (c.relnamespace = to_regnamespace('jobstats') OR c.relnamespace = to_regnamespace('_timescaledb_internal') AND EXISTS (
                SELECT FROM pg_class v JOIN pg_rewrite w ON w.ev_class = v.oid
                JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid AND d.refobjid = c.oid
                WHERE v.relnamespace = to_regnamespace('jobstats')))
            AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)
    LOOP
        EXECUTE format('ALTER TABLE %s REPLICA IDENTITY FULL', keyless);
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_internal.give_replica_identity IS
'Internal: gives REPLICA IDENTITY FULL to tables of the store without a primary key, for publications of all tables.';

-- The parts of the store's tables: columns, keys, indexes and triggers. jobstats_setup() creates the tables once more, empty and
-- in a separate schema, from the same definitions, and records their parts in jobstats.parts. Parts that the store lacks are damage.

-- The text of definitions depends on settings of the session.
CREATE FUNCTION jobstats_internal.parts(schema text) RETURNS TABLE (relation text, kind text, name text, definition text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, MDY' SET intervalstyle = 'postgres' SET quote_all_identifiers = off
AS $$
WITH tables AS (
    SELECT c.oid, c.relname::text AS relation FROM pg_class c
    WHERE c.relnamespace = to_regnamespace(parts.schema) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
)
SELECT t.relation, 'column', a.attname::text, concat(format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN ' NOT NULL' END,
    CASE WHEN a.attidentity = 'a' THEN ' GENERATED ALWAYS AS IDENTITY' END, ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid))
FROM tables t
JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
UNION ALL
SELECT t.relation, 'key', k.conname, pg_get_constraintdef(k.oid)
FROM tables t JOIN pg_constraint k ON k.conrelid = t.oid AND k.contype IN ('p', 'u')
UNION ALL
SELECT t.relation, 'index', c.relname, concat(CASE WHEN i.indisunique THEN 'UNIQUE ' END, substring(pg_get_indexdef(c.oid) FROM ' USING (.*)'))
FROM tables t
JOIN pg_index i ON i.indrelid = t.oid AND i.indisvalid
JOIN pg_class c ON c.oid = i.indexrelid
WHERE NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = c.oid AND k.contype IN ('p', 'u'))
UNION ALL
-- Functions of the triggers of the store are in its schema.
SELECT c.relname, 'trigger', g.tgname, ''
FROM pg_class c
JOIN pg_trigger g ON g.tgrelid = c.oid AND NOT g.tgisinternal AND g.tgenabled <> 'D'
JOIN pg_proc p ON p.oid = g.tgfoid AND p.pronamespace = c.relnamespace
WHERE c.relnamespace = to_regnamespace(parts.schema)
$$;
COMMENT ON FUNCTION jobstats_internal.parts IS 'Internal: the columns, keys, indexes and triggers of the tables in a schema, with their definitions.';

CREATE FUNCTION jobstats_internal.damage() RETURNS TABLE (relation text, kind text, name text, statement text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    WITH held AS MATERIALIZED (
        SELECT h.* FROM jobstats_internal.parts(text 'jobstats') h
    ), missing AS (
        SELECT p.* FROM jobstats.parts p
        WHERE NOT EXISTS (
            SELECT FROM held h
            WHERE h.relation = p.relation AND h.kind = p.kind
                AND CASE WHEN p.kind IN ('column', 'trigger') THEN h.name = p.name ELSE h.definition = p.definition END)
    )
    SELECT DISTINCT m.relation, 'table', m.relation, NULL
    FROM missing m WHERE to_regclass(format('jobstats.%I', m.relation)) IS NULL
    UNION ALL
    SELECT m.relation, m.kind, m.name, CASE m.kind
        WHEN 'column' THEN format('ALTER TABLE jobstats.%I ADD COLUMN %I %s', m.relation, m.name, m.definition)
        WHEN 'key' THEN format('ALTER TABLE jobstats.%I ADD CONSTRAINT %I %s', m.relation, m.name, m.definition)
        WHEN 'index' THEN format('CREATE %sINDEX %I ON jobstats.%I USING %s', substring(m.definition FROM '^UNIQUE '), m.name, m.relation,
            regexp_replace(m.definition, '^UNIQUE ', ''))
    END
    FROM missing m WHERE to_regclass(format('jobstats.%I', m.relation)) IS NOT NULL
    UNION ALL
    -- Tables that grow with time are divided by it.
    SELECT c.relname, 'hypertable', c.relname, NULL
    FROM pg_class c
    WHERE c.relnamespace = to_regnamespace('jobstats') AND c.relkind = 'r'
        AND (c.relname ~ '^rollup_[0-9]+[a-z](_users|_accounts|_members|_targets)?$'
            OR c.relname IN (SELECT g.relation FROM jobstats_internal.growing_tables() g))
        AND NOT EXISTS (SELECT FROM jobstats_internal.hypertables() h WHERE h.relation = c.relname)
    ORDER BY 1, 2, 3;
END
$$;
COMMENT ON FUNCTION jobstats_internal.damage IS
'Internal: the missing parts of tables of the store, by jobstats.parts, and the statement that creates them; statement NULL: not possible.';

CREATE FUNCTION jobstats_internal.damage_in_words() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT string_agg(CASE WHEN d.kind = 'table' THEN format('the table %s is missing', d.relation)
    WHEN d.kind = 'hypertable' THEN format('%s is no longer a hypertable', d.relation)
    ELSE format('%s lacks the %s %s', d.relation, d.kind, d.name) END, ', ' ORDER BY d.relation, d.kind, d.name)
FROM jobstats_internal.damage() d
$$;
COMMENT ON FUNCTION jobstats_internal.damage_in_words IS 'Internal: the missing parts of tables of the store, as text; NULL: complete.';

CREATE FUNCTION jobstats_internal.mend() RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    it record;
    mended text[] := '{}';
BEGIN
    FOR it IN
        SELECT * FROM jobstats_internal.damage() d WHERE d.statement IS NOT NULL
        -- Keys and indexes need their columns.
        ORDER BY d.kind <> 'column', d.relation, d.kind, d.name
    LOOP
        BEGIN
            EXECUTE it.statement;
            mended := mended || format('%s %s of %s', it.kind, it.name, it.relation);
        EXCEPTION WHEN OTHERS THEN
            RAISE WARNING '% lacks the % %, which cannot be created: %', it.relation, it.kind, it.name, SQLERRM
                USING HINT = format('Fix this, then run %s;', it.statement);
        END;
    END LOOP;
    RETURN nullif(array_to_string(mended, ', '), '');
END
$$;
COMMENT ON FUNCTION jobstats_internal.mend IS
'Internal: creates missing parts of tables, and returns them as text; NULL: no part was missing. Warns of parts that it cannot create.';

CREATE FUNCTION jobstats_internal.lost_increments() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
-- An observation has the number of its increments. All rows of an observation just after midnight may lie in the day before.
SELECT format('increments of %s are missing, but their observations exist', string_agg(d.day::date::text, ', ' ORDER BY d.day))
FROM (
    SELECT generate_series(jobstats_internal.bucket(interval '1 day', min(f."time")), now(), interval '1 day') AS day
    FROM jobstats.targets t
    CROSS JOIN LATERAL (
        SELECT o."time" FROM jobstats.observations o WHERE o.target_id = t.target_id ORDER BY o."time" LIMIT 1) f
) d
WHERE d.day >= (SELECT r.dropped FROM jobstats.refresh r)
    AND EXISTS (SELECT FROM jobstats.observations o
        WHERE o."time" > d.day + interval '2 hours' AND o."time" <= d.day + interval '1 day' AND o.since > d.day AND o.active > 0)
    AND NOT EXISTS (SELECT FROM jobstats.increments i WHERE i."time" > d.day AND i."time" <= d.day + interval '1 day')
HAVING count(*) > 0
$$;
COMMENT ON FUNCTION jobstats_internal.lost_increments IS 'Internal: the days that lack their increments, as text; NULL: no day.';

CREATE FUNCTION jobstats_internal.lost_rollups() RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    oldest timestamptz := (SELECT min(u.bucket) FROM jobstats.rollup_1d_users u);
    level jobstats.rollups;
    lost timestamptz;
    lost_all text;
BEGIN
    -- Days with sums by user had rows in the rollup.
    FOR level IN SELECT * FROM jobstats.rollups l ORDER BY l.width LOOP
        EXECUTE format($sql$
            SELECT p.low
            FROM generate_series($1, $2, $3) AS p (low)
            CROSS JOIN LATERAL (SELECT greatest(p.low, $4) AS low, least(p.low + $3, $2) AS high) s
            WHERE EXISTS (SELECT FROM jobstats.%I u WHERE u.bucket > s.low AND u.bucket <= s.high)
                AND NOT EXISTS (SELECT FROM jobstats.%I r WHERE r.bucket > s.low AND r.bucket <= s.high)
            ORDER BY 1 LIMIT 1
        $sql$, format('rollup_%s_users', level.level), 'rollup_' || level.level) INTO lost
        USING jobstats_internal.bucket(interval '1 day', greatest(oldest, level.dropped)), least(level.refreshed, level.users_refreshed),
            interval '1 day', level.dropped;
        IF lost IS NOT NULL THEN
            lost_all := concat_ws(', ', lost_all, format('rollup_%s has lost its rows from %s on', level.level, lost::date));
        END IF;
    END LOOP;
    RETURN lost_all;
END
$$;
COMMENT ON FUNCTION jobstats_internal.lost_rollups IS 'Internal: the rollups without rows on a day that has sums by user, as text; NULL: no rollup.';

-- A long query may read a relation that setup replaces. If setup waited for it, all feeds and readers would queue behind setup.
-- So it waits for less than a second, rolls back, and begins again.
CREATE FUNCTION jobstats_setup(
    raw_retention interval DEFAULT NULL, retention interval DEFAULT NULL, rejects_retention interval DEFAULT NULL,
    rollup_10m_retention interval DEFAULT NULL, rollup_1h_retention interval DEFAULT NULL, rollup_1d_retention interval DEFAULT NULL,
    chunk_interval interval DEFAULT NULL, compress_after interval DEFAULT NULL, refresh_lag interval DEFAULT NULL,
    metrics text[] DEFAULT NULL, node integer DEFAULT NULL
) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    limit_of_caller interval := current_setting('lock_timeout')::interval;
    began timestamptz := clock_timestamp();
    noticed timestamptz := began;
    message text;
BEGIN
    LOOP
        BEGIN
            PERFORM jobstats_internal.prepare_number(node);
            message := jobstats_internal.set_up(raw_retention, retention, rejects_retention, rollup_10m_retention, rollup_1h_retention,
                rollup_1d_retention, chunk_interval, compress_after, refresh_lag, metrics);
            PERFORM jobstats_internal.number_store(node);
            RETURN message;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            IF limit_of_caller > interval '0' AND clock_timestamp() > began + limit_of_caller THEN
                RAISE;
            ELSIF clock_timestamp() > noticed + interval '30 seconds' THEN
                noticed := clock_timestamp();
                RAISE NOTICE USING
                    MESSAGE = format('waiting for sessions that use the store: %s', (
                        SELECT string_agg(DISTINCT l.pid::text, ', ')
                        FROM pg_locks l
                        JOIN pg_class c ON c.oid = l.relation AND c.relnamespace = to_regnamespace('jobstats')
                        WHERE l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()) AND l.pid <> pg_backend_pid())),
                    HINT = 'SELECT pg_terminate_backend(…) ends one.';
            END IF;
        END;
        -- Feeds get more time than they had to wait.
        PERFORM pg_sleep(1);
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_setup IS
'Creates the store in the schema jobstats, or brings it up to date. Run it again at any time; a setting that is NULL stays as it is. Returns the settings, and how to schedule maintenance. Errors: 0A000 not UTF8, 22023 out of range, 23514 contradiction, 25006, 55000 schema in use, or front, 55P03.';

CREATE FUNCTION jobstats_internal.set_up(
    raw_retention interval, retention interval, rejects_retention interval, rollup_10m_retention interval,
    rollup_1h_retention interval, rollup_1d_retention interval, chunk_interval interval, compress_after interval, refresh_lag interval,
    metrics text[]
) RETURNS text
LANGUAGE c VOLATILE
SET search_path = pg_catalog, pg_temp SET client_min_messages = warning SET lock_timeout = '300ms'
AS 'MODULE_PATHNAME', 'jobstats_set_up_wrapper';
COMMENT ON FUNCTION jobstats_internal.set_up IS 'Internal: implements jobstats_setup(), and fails with 55P03 where it would have to wait for a lock.';

CREATE FUNCTION jobstats_internal.growing_tables() RETURNS TABLE (relation text, kept text)
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_growing_tables_wrapper';
COMMENT ON FUNCTION jobstats_internal.growing_tables IS 'Internal: the tables of the store that grow with time, and the setting of their retention.';

CREATE FUNCTION jobstats_internal.known_sources(sources text[]) RETURNS text[]
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_known_sources_wrapper';
COMMENT ON FUNCTION jobstats_internal.known_sources IS
'Internal: these sources, each once and in a fixed order; NULL is lctl. Errors: 0A000 for an unknown source, 22023 for an empty list.';

-- Texts of users and jobs, and the spans whose accounting has been read.

CREATE FUNCTION jobstats_internal.covers(cluster text, source text, since timestamptz, until timestamptz) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT EXISTS (
    SELECT FROM jobstats.covered c
    WHERE (covers.cluster IS NULL OR c.cluster = covers.cluster) AND (covers.source IS NULL OR c.source = covers.source)
        AND c.since <= covers.since AND c.until >= covers.until)
$$;
COMMENT ON FUNCTION jobstats_internal.covers IS
'Internal: whether the accounting of a cluster and a source (NULL: any) has been read for a whole span.';

CREATE FUNCTION jobstats_internal.forget_texts(horizon timestamptz DEFAULT jobstats_internal.kept_since('raw_retention')) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    gone bigint;
BEGIN
    -- Feeds that rely on one of these bodies must have committed, and later ones wait.
    PERFORM FROM jobstats.texts t WHERE t.received < horizon AND t.body IS NOT NULL FOR UPDATE;
    -- A body that later texts share passes to the first of them that is kept.
    UPDATE jobstats.texts heir SET body = t.body
    FROM jobstats.texts t
    CROSS JOIN LATERAL (
        SELECT k."time" FROM jobstats.texts k
        WHERE k.digest = t.digest AND k.body IS NULL AND k.received >= horizon
            AND k.cluster = t.cluster AND k.source = t.source AND k.server = t.server
        ORDER BY k."time" LIMIT 1) k
    WHERE t.received < horizon AND t.body IS NOT NULL
        AND heir.cluster = t.cluster AND heir.source = t.source AND heir.server = t.server AND heir."time" = k."time";
    -- A text of a growing file covers the time from the end of the last one.
    WITH ended AS (
        SELECT DISTINCT ON (t.cluster, t.source, t.server) t.cluster, t.source, t.server, t."time"
        FROM jobstats.texts t
        WHERE t.covers IS NOT NULL AND t.records > 0 AND t.received >= now() - (SELECT s.jobs_retention FROM jobstats.settings s)
        ORDER BY t.cluster, t.source, t.server, t."time" DESC
    )
    DELETE FROM jobstats.texts t
    WHERE t.received < horizon AND NOT EXISTS (
        SELECT FROM ended e WHERE e.cluster = t.cluster AND e.source = t.source AND e.server = t.server AND e."time" = t."time");
    GET DIAGNOSTICS gone = ROW_COUNT;
    UPDATE jobstats.texts t SET body = NULL WHERE t.received < horizon AND t.body IS NOT NULL;
    RETURN gone;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_texts IS
'Internal: deletes texts that were received before the horizon, and returns their number. The last text of a growing file stays without its body.';

CREATE FUNCTION jobstats_internal.require_store() RETURNS void
LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'jobstats_require_store_wrapper';
COMMENT ON FUNCTION jobstats_internal.require_store IS 'Internal: fails with 55000 where the store is missing.';

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
            MESSAGE = format('views of jobstats change their columns in this version, and other objects depend on them: %s', others),
            HINT = 'No change was made. Save the definitions of these, drop them, run jobstats_setup(), and create them again.';
    END IF;
    grants := ARRAY(
        SELECT jobstats_internal.grants(to_regclass(format('jobstats.%I', o.name)), o.name) FROM unnest(outdated) AS o (name));
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
COMMENT ON FUNCTION jobstats_internal.put_views IS
'Internal: creates or replaces changed views of the store, in order of dependency; those that cannot be replaced are recreated, with their grants. Error: 2BP01 where other objects depend on such a view.';

CREATE FUNCTION jobstats_internal.grants(relation oid, name text) RETURNS SETOF text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT format('GRANT %s%s ON jobstats.%I TO %s%s', g.privilege_type, g.columns, grants.name,
    CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(g.grantee)) END, CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' END)
FROM (
    SELECT c.relowner, '' AS columns, a.* FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a WHERE c.oid = relation
    UNION ALL
    SELECT c.relowner, format(' (%I)', t.attname), a.*
    FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid CROSS JOIN LATERAL aclexplode(t.attacl) a WHERE c.oid = relation
) g
WHERE g.grantee <> g.relowner
$$;
COMMENT ON FUNCTION jobstats_internal.grants IS
'Internal: the GRANT statements of a relation and its columns, for the relation of the store with this name.';

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
COMMENT ON FUNCTION jobstats_internal.is_view IS
'Internal: whether a view of the store already has this definition. CREATE OR REPLACE VIEW would wait for all its readers, even without a change.';

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
COMMENT ON FUNCTION jobstats_internal.dependents IS
'Internal: the outdated views of the store, and all objects that depend on them; is_own: a view of the store.';

CREATE FUNCTION jobstats_internal.ids_remedy(names text[]) RETURNS text
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_ids_remedy_wrapper';
COMMENT ON FUNCTION jobstats_internal.ids_remedy IS
'Internal: advice on identifiers that match no format: the format that they look like, and the statement that adds it.';
