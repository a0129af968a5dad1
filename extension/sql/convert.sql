-- Converts a store to the edition of TimescaleDB that is installed now, relation by relation.
--
-- A successor is created beside each relation, and triggers record what is written from then on. The existing rows are
-- copied, a span per transaction, then the recorded changes, until few are left. While writers are locked out for a
-- moment, the rest is copied, and from then on writers keep both relations equal. When no transaction is left that may
-- still read the state before that, the two relations swap names. So every reader sees one of two equal relations.

CREATE FUNCTION jobstats_internal.prepare_successor(relation text, key text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    original regclass := format('jobstats.%I', relation);
    destination text;
    event text;
BEGIN
    -- Begun anew, by another edition of TimescaleDB or with other columns.
    IF to_regclass('jobstats.converting') IS NOT NULL THEN
        DELETE FROM jobstats.converting c WHERE c.relation = prepare_successor.relation;
        DELETE FROM jobstats.converting_spans s WHERE s.relation = prepare_successor.relation;
    END IF;
    IF to_regclass(format('jobstats.new_%s', relation)) IS NOT NULL THEN
        EXECUTE format('DROP %s jobstats.new_%s', (
            SELECT CASE c.relkind WHEN 'v' THEN 'MATERIALIZED VIEW' ELSE 'TABLE' END
            FROM pg_class c WHERE c.oid = format('jobstats.new_%s', relation)::regclass), relation);
    END IF;
    destination := jobstats_internal.create_successor(relation);
    -- Writers that do not know the triggers must end first.
    EXECUTE format('LOCK TABLE ONLY %s IN SHARE ROW EXCLUSIVE MODE', original);
    DELETE FROM jobstats.converting_changes c WHERE c.relation = prepare_successor.relation;
    FOREACH event IN ARRAY ARRAY['INSERT', 'UPDATE', 'DELETE'] LOOP
        EXECUTE format(
            'CREATE OR REPLACE TRIGGER converting_%s AFTER %s ON %s REFERENCING %s TABLE AS changed '
            'FOR EACH STATEMENT EXECUTE FUNCTION jobstats.converting_note()',
            lower(event), event, original, CASE event WHEN 'DELETE' THEN 'OLD' ELSE 'NEW' END);
    END LOOP;
    INSERT INTO jobstats.converting (relation, destination, key, columns)
    SELECT relation, destination, key, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
    FROM pg_attribute a WHERE a.attrelid = original AND a.attnum > 0 AND NOT a.attisdropped;
END
$$;
COMMENT ON FUNCTION jobstats_internal.prepare_successor(text, text) IS
'Internal: begins the conversion of a relation, or begins it anew.';

CREATE FUNCTION jobstats_internal.fill_successor(relation text, unit text) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC'
AS $$
DECLARE
    it record;
    span record;
    affected bigint;
    began timestamptz;
BEGIN
    SELECT * INTO STRICT it FROM jobstats.converting c WHERE c.relation = fill_successor.relation;
    IF it.state = 'prepared' THEN
        EXECUTE format('INSERT INTO jobstats.converting_spans SELECT $1, d.d, d.d + (''1 '' || $2)::interval FROM ('
            'SELECT DISTINCT date_trunc($2, r.%I) FROM jobstats.%I r) d (d)', it.key, it.relation) USING it.relation, unit;
        UPDATE jobstats.converting c SET state = 'copying' WHERE c.relation = it.relation;
        RETURN 0;
    END IF;
    DELETE FROM jobstats.converting_spans s WHERE s.ctid = (
        SELECT n.ctid FROM jobstats.converting_spans n WHERE n.relation = it.relation ORDER BY n.span_from LIMIT 1)
    RETURNING * INTO span;
    IF FOUND THEN
        EXECUTE format('INSERT INTO %s (%s) SELECT %2$s FROM jobstats.%I r WHERE r.%I >= $1 AND r.%4$I < $2',
            it.destination, it.columns, it.relation, it.key) USING span.span_from, span.span_to;
        GET DIAGNOSTICS affected = ROW_COUNT;
        RETURN affected;
    END IF;
    began := clock_timestamp();
    affected := jobstats.converting_replay(it.relation);
    IF clock_timestamp() - began > interval '200 ms' AND it.rounds < 20 THEN
        UPDATE jobstats.converting c SET rounds = c.rounds + 1 WHERE c.relation = it.relation;
        RETURN affected;
    END IF;
    EXECUTE format('LOCK TABLE ONLY jobstats.%I IN SHARE ROW EXCLUSIVE MODE', it.relation);
    affected := affected + jobstats.converting_replay(it.relation);
    UPDATE jobstats.converting c SET state = 'following', following_since = pg_current_xact_id() WHERE c.relation = it.relation;
    RETURN affected;
END
$$;
COMMENT ON FUNCTION jobstats_internal.fill_successor(text, text) IS
'Internal: takes the next step of copying, and returns the number of rows copied.';

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
    -- Maintenance and setup must not run at the same time.
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
    EXECUTE format('ALTER TABLE jobstats.%I RENAME TO old_%s', relation, relation);
    EXECUTE format('ALTER %s jobstats.new_%s RENAME TO %I',
        CASE (SELECT c.relkind FROM pg_class c WHERE c.oid = successor) WHEN 'v' THEN 'MATERIALIZED VIEW' ELSE 'TABLE' END,
        relation, relation);

    FOR statement IN
        WITH granted AS (
            SELECT c.oid, '' AS columns, a.*
            FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid IN (original, successor) AND a.grantee <> c.relowner
            UNION ALL
            SELECT c.oid, format('(%I)', t.attname), a.*
            FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid, aclexplode(t.attacl) a
            WHERE c.oid = original AND a.grantee <> c.relowner
        ), named AS (
            SELECT g.*, CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(g.grantee)) END AS role FROM granted g
        )
        (SELECT DISTINCT format('REVOKE ALL ON jobstats.%I FROM %s', relation, n.role) FROM named n WHERE n.oid = successor)
        UNION ALL
        SELECT format('GRANT %s%s ON jobstats.%I TO %s%s', n.privilege_type, n.columns, relation, n.role,
            CASE WHEN n.is_grantable THEN ' WITH GRANT OPTION' END)
        FROM named n WHERE n.oid = original
    LOOP
        EXECUTE statement;
    END LOOP;
    FOREACH statement IN ARRAY definitions LOOP
        EXECUTE statement;
    END LOOP;
    PERFORM jobstats_internal.set_comments();
    DELETE FROM jobstats.converting c WHERE c.relation = put_successor.relation;
END
$$;
COMMENT ON FUNCTION jobstats_internal.put_successor(text) IS
'Internal: puts the successor of a relation in its place, with its name, grants, views and comments.';

CREATE FUNCTION jobstats_internal.convert_step(state jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    began timestamptz := clock_timestamp();
    item record;
    converting record;
    step text;
    affected bigint := 0;
BEGIN
    -- Maintenance, and another conversion, wait for each other's steps.
    LOCK TABLE jobstats.locks IN SHARE UPDATE EXCLUSIVE MODE;
    SELECT c.relname INTO step
    FROM pg_class c
    WHERE c.relnamespace = regnamespace 'jobstats' AND c.relkind IN ('r', 'p')
        AND c.relname ~ '^old_(raw|observations|increments|target_readings|target_increments|server_readings|server_increments|rollup_[0-9]+[a-z](_users|_accounts|_members|_targets)?)$'
    LIMIT 1;
    IF FOUND THEN
        -- A partition of a relation that has been replaced, or the relation, where there are none left.
        EXECUTE format('DROP TABLE %s', coalesce((
            SELECT i.inhrelid FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhparent AND c.relkind = 'p'
            WHERE c.oid = format('jobstats.%I', step)::regclass ORDER BY i.inhrelid LIMIT 1), format('jobstats.%I', step)::regclass)::regclass);
        RETURN jobstats_internal.record_conversion('drop of ' || step, began, bigint '0');
    END IF;

    SELECT * INTO item FROM jobstats_internal.to_convert() LIMIT 1;
    IF NOT FOUND THEN
        IF to_regclass('jobstats.converting') IS NULL THEN
            RETURN NULL;
        END IF;
        PERFORM @extschema@.jobstats_setup();
        DROP TABLE jobstats.converting, jobstats.converting_spans, jobstats.converting_changes;
        DROP FUNCTION jobstats.converting_note(), jobstats.converting_replay(text), jobstats.converting_whose(text);
        RETURN jobstats_internal.record_conversion(text 'setup', began, bigint '0');
    END IF;

    IF to_regclass('jobstats.converting') IS NOT NULL THEN
        -- The successor is outdated unless it has the columns of the original and the kind that would be created
        -- now.
        SELECT c.* INTO converting FROM jobstats.converting c
        JOIN pg_class s ON s.oid = to_regclass(format('jobstats.new_%s', c.relation)) AND (s.relkind = 'v') = item.aggregate
        WHERE c.relation = item.relation AND c.columns = (
            SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
            FROM pg_attribute a
            WHERE a.attrelid = format('jobstats.%I', c.relation)::regclass AND a.attnum > 0 AND NOT a.attisdropped);
    END IF;
    IF converting IS NULL THEN
        PERFORM jobstats_internal.prepare_successor(item.relation, item.key);
        step := 'successor of ' || item.relation;
    ELSIF converting.state <> 'following' THEN
        affected := jobstats_internal.fill_successor(item.relation, item.unit);
        step := 'copy of ' || item.relation;
    ELSIF jobstats_internal.is_looked_at_since(converting.following_since) THEN
        RAISE lock_not_available USING MESSAGE = 'somebody still looks at the time before';
    ELSE
        PERFORM jobstats_internal.put_successor(item.relation);
        step := 'conversion of ' || item.relation;
        state := jsonb_set(state, '{converted}', coalesce(state -> 'converted', '[]') || to_jsonb(item.relation));
    END IF;
    RETURN state || jobstats_internal.record_conversion(step, began, affected);
END
$$;
COMMENT ON FUNCTION jobstats_internal.convert_step(jsonb) IS
'Internal: takes the next step of a conversion, and returns its name and which relations this conversion has replaced; NULL: no step is left.';

CREATE FUNCTION jobstats_internal.record_conversion(step text, began timestamptz, affected bigint) RETURNS jsonb
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
INSERT INTO jobstats.maintenance (step, began, took, affected) VALUES (step, began, clock_timestamp() - began, affected)
RETURNING jsonb_build_object('step', step)
$$;
COMMENT ON FUNCTION jobstats_internal.record_conversion(text, timestamptz, bigint) IS
'Internal: records a step of a conversion.';

-- The procedure only commits; all other work runs with the rights of the store's owner. It has no SET clause, because a
-- procedure with one cannot commit.
CREATE PROCEDURE jobstats_convert()
LANGUAGE plpgsql
AS $$
DECLARE
    state pg_catalog.jsonb := '{}';
    next pg_catalog.jsonb;
    began pg_catalog.timestamptz;
    waiting pg_catalog.timestamptz;
BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    PERFORM jobstats_internal.require_store();
    PERFORM jobstats_internal.require_top_level(text 'jobstats_convert()');
    LOOP
        COMMIT;
        -- The next statement must see what others commit while it waits for a lock.
        SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
        PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
        -- A session that waits for a lock on a table makes all feeds wait behind itself.
        PERFORM set_config('lock_timeout', '300ms', true);
        began := clock_timestamp();
        BEGIN
            next := jobstats_internal.as_owner(text 'convert', state::text)::jsonb;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            waiting := coalesce(waiting, began);
            IF clock_timestamp() > waiting + interval '30 s' THEN
                RAISE NOTICE 'waiting for queries or feeds that began long ago';
                waiting := clock_timestamp();
            END IF;
            -- Feeds get more time than they had to wait.
            PERFORM pg_sleep(1);
            CONTINUE;
        END;
        EXIT WHEN next IS NULL;
        state := next;
        waiting := NULL;
    END LOOP;
    IF state -> 'converted' IS NULL THEN
        RAISE NOTICE 'nothing to convert: the store is what TimescaleDB has';
    ELSE
        RAISE NOTICE 'converted: %', (SELECT string_agg(r.relation, ', ' ORDER BY r.number)
            FROM jsonb_array_elements_text(state -> 'converted') WITH ORDINALITY AS r (relation, number));
    END IF;
    COMMIT;
END
$$;
COMMENT ON PROCEDURE jobstats_convert() IS
'Converts the store to the edition of TimescaleDB that is installed. Feeds and queries go on; called again, it continues. Needs space for a copy of the largest table. Call it as the owner, outside a transaction. Errors: 55000 no store or TimescaleDB, 0A000 too old, 2BP01, 25001, 25006, 2D000, 42501.';

CREATE FUNCTION jobstats_internal.to_convert() RETURNS TABLE (relation text, key text, unit text, aggregate boolean)
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'jobstats_to_convert_wrapper';
COMMENT ON FUNCTION jobstats_internal.to_convert() IS
'Internal: the relations of the store that are not yet what the installed TimescaleDB has, with their column of time, what is copied at once, and whether they become continuous aggregates. Fails where they cannot be converted.';

CREATE FUNCTION jobstats_internal.create_successor(relation text) RETURNS text
LANGUAGE c VOLATILE STRICT SET search_path = pg_catalog, pg_temp SET client_min_messages = warning
AS 'MODULE_PATHNAME', 'jobstats_create_successor_wrapper';
COMMENT ON FUNCTION jobstats_internal.create_successor(text) IS
'Internal: creates jobstats.new_… for a relation that is to be converted, and returns the table that its rows go into.';
