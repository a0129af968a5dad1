-- Converts a store of partitioned tables to hypertables of TimescaleDB, table by table, in three short steps and a copy.
--
-- 1. Locks of the session keep writers from the table, taken at a moment without any transaction on it: a writer never waits here with a
--    lock that the last step needs.
-- 2. The table is copied into a hypertable, jobstats.new_…. Readers go on.
-- 3. The hypertable takes the name, once all sessions with a snapshot from before the copy have ended: to them it would be empty.
-- If the session ends, so do its locks: writers go on with the table, and the next call copies it again. So it does where the last step has
-- to wait for more than a minute.

CREATE FUNCTION jobstats_internal.hold_writers(relation oid) RETURNS void
LANGUAGE c VOLATILE STRICT SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'jobstats_hold_writers_wrapper';
COMMENT ON FUNCTION jobstats_internal.hold_writers IS
'Internal: keeps writers from a relation until jobstats_internal.end_maintenance(), the end of the session, or an error.';

CREATE FUNCTION jobstats_internal.swap_index_names(original oid, successor oid) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        WITH indexes AS (
            SELECT i.indrelid, c.relname AS name, row_number() OVER (PARTITION BY i.indrelid, d.definition ORDER BY c.oid) AS number,
                d.definition
            FROM pg_index i
            JOIN pg_class c ON c.oid = i.indexrelid
            CROSS JOIN LATERAL (
                SELECT concat(i.indisunique, i.indisprimary, substring(pg_get_indexdef(c.oid) FROM ' USING .*'))) d (definition)
            WHERE i.indrelid IN (original, successor)
        )
        SELECT unnest(ARRAY[
            format('ALTER INDEX jobstats.%I RENAME TO %I', o.name, 'old_' || o.name),
            format('ALTER INDEX jobstats.%I RENAME TO %I', n.name, o.name)])
        FROM indexes o JOIN indexes n USING (definition, number)
        WHERE o.indrelid = original AND n.indrelid = successor
    LOOP
        EXECUTE statement;
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_internal.swap_index_names IS
'Internal: renames the indexes of the original to old_…, and gives their names to those of the copy.';

CREATE FUNCTION jobstats_internal.put_successor(relation text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    original oid := format('jobstats.%I', relation)::regclass;
    successor oid := format('jobstats.new_%s', relation)::regclass;
    views oid[];
    definitions text[] := '{}';
    view oid;
    statement text;
BEGIN
    PERFORM jobstats_internal.lock_store();
    -- Locks are taken in the order in which readers take them, views before the relations that they read, so that no
    -- deadlock can arise. The view itself does not change, but its privileges are locked with it; LOCK TABLE would
    -- lock its relations too.
    SELECT coalesce(array_agg(DISTINCT w.ev_class ORDER BY w.ev_class DESC), '{}') INTO views
    FROM pg_depend d JOIN pg_rewrite w ON d.classid = 'pg_rewrite'::regclass AND w.oid = d.objid
    WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = original AND w.ev_class <> original;
    FOREACH view IN ARRAY views LOOP
        EXECUTE format('ALTER VIEW %s OWNER TO %I', view::regclass,
            (SELECT pg_get_userbyid(c.relowner) FROM pg_class c WHERE c.oid = view));
        definitions := definitions || (
            SELECT format('CREATE OR REPLACE VIEW %s%s AS %s', view::regclass,
                ' WITH (' || array_to_string(c.reloptions, ', ') || ')', pg_get_viewdef(view))
            FROM pg_class c WHERE c.oid = view);
    END LOOP;
    EXECUTE format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', original::regclass);
    PERFORM jobstats_internal.swap_index_names(original, successor);
    EXECUTE format('ALTER TABLE jobstats.%I RENAME TO old_%s', relation, relation);
    EXECUTE format('ALTER TABLE jobstats.new_%s RENAME TO %I', relation, relation);
    FOREACH statement IN ARRAY ARRAY(
            SELECT DISTINCT format('REVOKE ALL ON jobstats.%I FROM %s', relation,
                CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END)
            FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a WHERE c.oid = successor AND a.grantee <> c.relowner)
        || ARRAY(SELECT jobstats_internal.grants(original, relation)) || definitions
    LOOP
        EXECUTE statement;
    END LOOP;
    EXECUTE format('DROP TABLE jobstats.old_%s', relation);
    PERFORM jobstats_internal.set_comments();
END
$$;
COMMENT ON FUNCTION jobstats_internal.put_successor IS 'Internal: puts the copy of a table in its place, with its name, grants, views and comments.';

CREATE FUNCTION jobstats_internal.convert_step(state jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    relation text := state ->> 'relation';
    began timestamptz := clock_timestamp();
    step text := state ->> 'next';
    rows bigint := 0;
BEGIN
    -- Also before a table is copied again.
    IF jobstats_internal.is_looked_at_since((state ->> 'copied')::xid8) THEN
        RAISE lock_not_available USING MESSAGE = 'queries from before the copy still run';
    END IF;
    CASE step
    WHEN 'hold' THEN
        relation := (jobstats_internal.to_convert())[1];
        IF relation IS NULL THEN
            PERFORM @extschema@.jobstats_setup();
            RETURN NULL;
        END IF;
        PERFORM jobstats_internal.begin_maintenance();
        -- All feeds come in by this view, and wait there.
        PERFORM jobstats_internal.hold_writers(regclass 'jobstats.feed');
        EXECUTE format('LOCK TABLE ONLY jobstats.%I IN ACCESS EXCLUSIVE MODE', relation);
        PERFORM jobstats_internal.hold_writers(format('jobstats.%I', relation)::regclass);
        RETURN state || jsonb_build_object('next', 'copy', 'relation', relation);
    WHEN 'copy' THEN
        PERFORM jobstats_internal.create_successor(relation);
        EXECUTE format('INSERT INTO jobstats.%I SELECT * FROM jobstats.%I', 'new_' || relation, relation);
        GET DIAGNOSTICS rows = ROW_COUNT;
        RAISE NOTICE 'copied % rows of % in % s', rows, relation, round(extract(epoch FROM clock_timestamp() - began), 1);
        state := state || jsonb_build_object('next', 'swap', 'copied', pg_current_xact_id());
    WHEN 'swap' THEN
        PERFORM jobstats_internal.put_successor(relation);
        state := state - 'copied' || jsonb_build_object('next', 'hold', 'converted', concat_ws(', ', state ->> 'converted', relation));
    END CASE;
    INSERT INTO jobstats.maintenance (step, began, took, affected)
    VALUES (step || ' of ' || relation, began, clock_timestamp() - began, rows);
    RETURN state;
END
$$;
COMMENT ON FUNCTION jobstats_internal.convert_step IS
'Internal: takes the next step of a conversion, and returns the state for the one after it; NULL: none is left.';

-- The procedure only commits; all other work runs with the rights of the store's owner. It has no SET clause, because a
-- procedure with one cannot commit.
CREATE PROCEDURE jobstats_convert()
LANGUAGE plpgsql
AS $$
DECLARE
    state pg_catalog.jsonb := '{"next": "hold"}';
    next pg_catalog.jsonb;
    waiting pg_catalog.timestamptz;
    noticed pg_catalog.timestamptz;
BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    PERFORM jobstats_internal.require_store();
    PERFORM jobstats_internal.require_top_level(text 'jobstats_convert()');
    LOOP
        COMMIT;
        -- The next statement must see what others commit while it waits for a lock.
        SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
        PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
        IF state ->> 'next' = 'hold' THEN
            PERFORM jobstats_internal.end_maintenance();
        END IF;
        -- A session that waits for a lock on a table makes all feeds wait behind itself.
        PERFORM set_config('lock_timeout', '300ms', true);
        BEGIN
            next := jobstats_internal.as_owner(text 'convert', state::text)::jsonb;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            waiting := coalesce(waiting, clock_timestamp());
            -- Writers must not wait for long queries, nor for a session whose locks this one needs: the table is copied again.
            IF state ->> 'next' = 'hold' OR clock_timestamp() > waiting + interval '1 minute' THEN
                PERFORM jobstats_internal.end_maintenance();
                state := state || '{"next": "hold"}';
            END IF;
            IF clock_timestamp() > coalesce(noticed, waiting) + interval '30 s' THEN
                RAISE NOTICE 'waiting for long-running queries or feeds';
                noticed := clock_timestamp();
            END IF;
            -- Feeds get more time than they had to wait.
            PERFORM pg_sleep(1);
            CONTINUE;
        END;
        EXIT WHEN next IS NULL;
        state := next;
        waiting := NULL;
        noticed := NULL;
    END LOOP;
    RAISE NOTICE '%', coalesce('converted: ' || (state ->> 'converted'), 'nothing to convert: the store fits the installed TimescaleDB');
    COMMIT;
END
$$;
COMMENT ON PROCEDURE jobstats_convert IS
'Turns partitioned tables into hypertables, one by one. Readers go on, feeds wait while a table is copied. Called again, it continues. Needs space for the largest table. Call it as the owner, outside a transaction. Errors: 55000 no store or TimescaleDB, 2BP01, 25001, 25006, 2D000, 42501.';

CREATE FUNCTION jobstats_internal.drop_copies() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET client_min_messages = warning
AS $$
DECLARE
    copy regclass;
BEGIN
    LOCK TABLE jobstats.feed IN ROW EXCLUSIVE MODE;
    FOR copy IN
        SELECT n.oid FROM pg_class c JOIN pg_class n ON n.relnamespace = c.relnamespace AND n.relname = 'new_' || c.relname AND n.relowner = c.relowner
        WHERE c.relnamespace = to_regnamespace('jobstats') AND c.relkind = 'p' AND NOT c.relispartition
    LOOP
        EXECUTE format('DROP TABLE %s', copy);
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_internal.drop_copies IS
'Internal: waits for a conversion to swap its table, and drops copies left by interrupted conversions.';

CREATE FUNCTION jobstats_internal.to_convert() RETURNS text[]
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'jobstats_to_convert_wrapper';
COMMENT ON FUNCTION jobstats_internal.to_convert IS
'Internal: the tables of the store that are to become hypertables. Fails where they cannot be converted.';

CREATE FUNCTION jobstats_internal.create_successor(relation text) RETURNS void
LANGUAGE c VOLATILE STRICT SET search_path = pg_catalog, pg_temp SET client_min_messages = warning
AS 'MODULE_PATHNAME', 'jobstats_create_successor_wrapper';
COMMENT ON FUNCTION jobstats_internal.create_successor IS 'Internal: creates jobstats.new_…, a hypertable, for a table that is to be converted.';
