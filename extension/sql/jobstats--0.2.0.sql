-- Written by `make schema`: change the SQL in extension/src instead.

-- The schema of functions that only jobstats itself calls. Nobody else can create functions in it, so PostgreSQL cannot
-- mistake another function for one of them. The schema of the extension may be open to others.
CREATE SCHEMA jobstats_internal;
COMMENT ON SCHEMA jobstats_internal IS 'What the functions of the extension jobstats are made of; not to be called directly.';

-- health is asked every minute. Its advice on matches is found here, at most once per call of maintenance, in an hour or a day that
-- rollups know, so that it costs as much in a store of years as in one of a day.
CREATE FUNCTION jobstats_internal.advise() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    known timestamptz := (SELECT l.refreshed FROM jobstats.rollups l WHERE l.level = '10m');
    day timestamptz := (SELECT date_bin(interval '24 hours', l.refreshed, timestamptz 'epoch') FROM jobstats.rollups l WHERE l.level = '1d');
    written bigint;
BEGIN
    DELETE FROM jobstats.advice a;
    INSERT INTO jobstats.advice (cluster, status, remedy, noted)
    SELECT q.cluster, q.status, q.remedy, now()
    -- The span ends where rollups end, and lies within a day of UTC as matches do.
    FROM jobstats.status_quality(
        greatest(known - interval '1 hour', jobstats_internal.bucket(interval '24 hours', known - interval '1 microsecond')), known) q
    WHERE q.urgent
    UNION ALL
    -- Of a whole day, since who claims jobs may do so in bursts. Where no entry claims any, nothing is read.
    (SELECT DISTINCT ON (c.cluster) c.cluster, 'claimed', format('Of what was read and written on %s, %s %% was by identifiers that name jobs of other users, most of it of uid %s for jobs of %s, for example %s. If one person has both numbers, accounting and clients disagree about users; otherwise the user exports numbers of these jobs.',
        ((day - interval '24 hours') AT TIME ZONE 'UTC')::date, round(100 * c.claimed / c.of_all), c.uid, c.owner, c.example), now()
    FROM (
        SELECT t.cluster, e.uid, e.owner, min(e.name) AS example, sum(b.bytes) AS bytes, sum(sum(b.bytes)) OVER w AS of_all,
            sum(sum(b.bytes) FILTER (WHERE e.entry_id IS NOT NULL)) OVER w AS claimed
        FROM jobstats.rollup_1d r
        CROSS JOIN LATERAL (SELECT coalesce(r.read_bytes, 0) + coalesce(r.write_bytes, 0) AS bytes) b
        JOIN jobstats.targets t ON t.target_id = r.target_id
        LEFT JOIN (
            SELECT e.entry_id, e.uid, e.name, coalesce((
                SELECT coalesce(text 'uid ' || k.uid, k.user_name) FROM jobstats.job_ids k
                WHERE k.job = e.claimed ORDER BY k.started > day, k.started DESC LIMIT 1), text 'others') AS owner
            FROM jobstats.entries e WHERE e.claimed IS NOT NULL) e ON e.entry_id = r.entry_id
        WHERE r.bucket > day - interval '24 hours' AND r.bucket <= day AND EXISTS (SELECT FROM jobstats.entries k WHERE k.claimed IS NOT NULL)
        GROUP BY t.cluster, e.uid, e.owner
        WINDOW w AS (PARTITION BY t.cluster)) c
    WHERE c.uid IS NOT NULL AND 20 * c.claimed >= c.of_all AND c.claimed > 0
    ORDER BY c.cluster, c.bytes DESC, c.uid);
    GET DIAGNOSTICS written = ROW_COUNT;
    RETURN written;
END
$$;
COMMENT ON FUNCTION jobstats_internal.advise() IS
'Internal: notes in jobstats.advice what needs care in the matches of entries with jobs, and returns how much that is.';

CREATE FUNCTION jobstats_internal.any_finish(internal) RETURNS boolean
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'any_finish_wrapper';
COMMENT ON FUNCTION jobstats_internal.any_finish(internal) IS 'Internal: of jobstats_internal.any.';

CREATE FUNCTION jobstats_internal.as_owner(work text, state text) RETURNS text
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'jobstats-0.2.0', 'as_owner_wrapper';
COMMENT ON FUNCTION jobstats_internal.as_owner(text, text) IS
'Internal: takes the next step of a work (maintain or convert) with the rights of the owner of the store, and returns the state to take the step after it with; NULL: nothing is left to do. A state is jsonb, as text. Forgets a user (forget), and returns jobstats_internal.forget_user() as jsonb. Drops targets (drop targets), and returns jobstats_internal.drop_targets(). Judges the newest readings (watch), and returns jobstats_internal.watch(). Errors: 42501 where the caller does not have the rights of the owner, 55000 where there is no store.';

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
    -- Another version of the extension, or another edition of TimescaleDB, began this conversion anew.
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

CREATE FUNCTION jobstats_internal.drop_predecessor(name text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    part regclass;
BEGIN
    SELECT i.inhrelid INTO part FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhparent AND c.relkind = 'p'
    WHERE i.inhparent = format('jobstats.%I', name)::regclass ORDER BY i.inhrelid LIMIT 1;
    EXECUTE format('DROP TABLE %s', coalesce(part, format('jobstats.%I', name)::regclass));
END
$$;
COMMENT ON FUNCTION jobstats_internal.drop_predecessor(text) IS
'Internal: drops a partition of a relation that has been replaced, or the relation, where there are none left.';

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
        PERFORM jobstats_internal.drop_predecessor(step);
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
'Converts the store to the edition of TimescaleDB that is installed. Partitioned tables become hypertables, and in the Community edition rollups that are tables become continuous aggregates, with all that is in them. Feeds and queries go on and wait for less than a second at a time. Called again it goes on where it ended, also after a crash. What it did stands in jobstats.maintenance. Needs room for a second copy of the largest table. To be called by the owner of the store or a superuser, outside of a transaction. Errors: 55000 where there is no store or no TimescaleDB, 0A000 where its Community edition is older than 2.28, 2BP01 where something depends on a table that would not survive its replacement, 25001 inside of a transaction, 25006 on a standby.';

CREATE TYPE jobstats_counter;

CREATE FUNCTION jobstats_internal.counter_in(cstring) RETURNS jobstats_counter
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'counter_in_wrapper';
COMMENT ON FUNCTION jobstats_internal.counter_in(cstring) IS 'Internal: from text.';

CREATE FUNCTION jobstats_internal.counter_out(jobstats_counter) RETURNS cstring
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'counter_out_wrapper';
COMMENT ON FUNCTION jobstats_internal.counter_out(jobstats_counter) IS 'Internal: to text.';

CREATE FUNCTION jobstats_internal.counter_recv(internal) RETURNS jobstats_counter
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'counter_recv_wrapper';
COMMENT ON FUNCTION jobstats_internal.counter_recv(internal) IS 'Internal: from a binary message.';

CREATE FUNCTION jobstats_internal.counter_send(jobstats_counter) RETURNS bytea
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'byteasend';
COMMENT ON FUNCTION jobstats_internal.counter_send(jobstats_counter) IS 'Internal: to a binary message.';

CREATE TYPE jobstats_counter (
    INPUT = jobstats_internal.counter_in, OUTPUT = jobstats_internal.counter_out,
    RECEIVE = jobstats_internal.counter_recv, SEND = jobstats_internal.counter_send,
    INTERNALLENGTH = VARIABLE, STORAGE = extended
);
COMMENT ON TYPE jobstats_counter IS
'What the readings of a counter sum up to: made by jobstats_counter_agg(), merged by jobstats_rollup().';

CREATE FUNCTION jobstats_internal.counter_eq(jobstats_counter, jobstats_counter) RETURNS boolean
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'byteaeq';
COMMENT ON FUNCTION jobstats_internal.counter_eq(jobstats_counter, jobstats_counter) IS 'Internal: =.';
CREATE FUNCTION jobstats_internal.counter_ne(jobstats_counter, jobstats_counter) RETURNS boolean
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'byteane';
COMMENT ON FUNCTION jobstats_internal.counter_ne(jobstats_counter, jobstats_counter) IS 'Internal: <>.';
CREATE FUNCTION jobstats_internal.counter_hash(jobstats_counter) RETURNS integer
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'hashvarlena';
COMMENT ON FUNCTION jobstats_internal.counter_hash(jobstats_counter) IS 'Internal: for GROUP BY and DISTINCT.';

CREATE OPERATOR = (
    LEFTARG = jobstats_counter, RIGHTARG = jobstats_counter, FUNCTION = jobstats_internal.counter_eq,
    COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR = (jobstats_counter, jobstats_counter) IS 'The same readings at either end, increase and resets.';
CREATE OPERATOR <> (
    LEFTARG = jobstats_counter, RIGHTARG = jobstats_counter, FUNCTION = jobstats_internal.counter_ne,
    COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (jobstats_counter, jobstats_counter) IS 'Not =.';
CREATE OPERATOR CLASS jobstats_counter_ops DEFAULT FOR TYPE jobstats_counter USING hash AS
    OPERATOR 1 =, FUNCTION 1 jobstats_internal.counter_hash(jobstats_counter);
COMMENT ON OPERATOR CLASS jobstats_counter_ops USING hash IS 'For GROUP BY, DISTINCT and hash joins.';

CREATE FUNCTION jobstats_internal.counter_add(internal, timestamptz, bigint) RETURNS internal
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_counter_add';
COMMENT ON FUNCTION jobstats_internal.counter_add(internal, timestamptz, bigint) IS 'Internal: of jobstats_counter_agg.';

CREATE FUNCTION jobstats_internal.counter_add(internal, timestamptz, bigint, timestamptz) RETURNS internal
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_counter_add_of_life';
COMMENT ON FUNCTION jobstats_internal.counter_add(internal, timestamptz, bigint, timestamptz) IS
'Internal: of jobstats_counter_agg.';

CREATE FUNCTION jobstats_internal.counter_add(internal, timestamptz, bigint, timestamptz, bigint) RETURNS internal
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'jobstats-0.2.0', 'counter_add_wrapping_wrapper';
COMMENT ON FUNCTION jobstats_internal.counter_add(internal, timestamptz, bigint, timestamptz, bigint) IS
'Internal: of jobstats_counter_agg.';

CREATE FUNCTION jobstats_internal.counter_finish(internal) RETURNS jobstats_counter
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'counter_finish_wrapper';
COMMENT ON FUNCTION jobstats_internal.counter_finish(internal) IS 'Internal: of jobstats_counter_agg.';

CREATE FUNCTION jobstats_internal.counter_merge(internal, jobstats_counter) RETURNS internal
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'jobstats-0.2.0', 'counter_merge_wrapper';
COMMENT ON FUNCTION jobstats_internal.counter_merge(internal, jobstats_counter) IS 'Internal: of jobstats_rollup.';

CREATE FUNCTION jobstats_internal.counter_merged(internal) RETURNS jobstats_counter
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'counter_merged_wrapper';
COMMENT ON FUNCTION jobstats_internal.counter_merged(internal) IS 'Internal: of jobstats_rollup.';

CREATE AGGREGATE jobstats_counter_agg(observed timestamptz, value bigint) (
    SFUNC = jobstats_internal.counter_add, STYPE = internal, FINALFUNC = jobstats_internal.counter_finish, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_counter_agg(timestamptz, bigint) IS
'Sums up the readings of one counter, in any order. A value that is lower than the one before it is a reset. Of equal times the larger value counts; rows with a NULL are passed over. Read it with jobstats_increase, _rate, _resets, _elapsed, _first, _last; merge with jobstats_rollup. Errors: 22003 for a negative value, 22023 for a time that is not finite, 54000 where over a gigabyte of readings are not in the order of time.';
CREATE AGGREGATE jobstats_counter_agg(observed timestamptz, value bigint, start_time timestamptz) (
    SFUNC = jobstats_internal.counter_add, STYPE = internal, FINALFUNC = jobstats_internal.counter_finish, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_counter_agg(timestamptz, bigint, timestamptz) IS
'Sums up the readings of a counter that tells when its life began. Like jobstats_counter_agg(timestamptz, bigint), but it is a reset exactly if start_time differs, whatever the values. start_time NULL is not known: the values decide. Of equal times the later start_time counts, then the larger value. Errors: 22003 for a negative value, 22023 for a time that is not finite, 54000 where over a gigabyte of readings are not in the order of time.';
CREATE AGGREGATE jobstats_counter_agg(observed timestamptz, value bigint, start_time timestamptz, wraps_at bigint) (
    SFUNC = jobstats_internal.counter_add, STYPE = internal, FINALFUNC = jobstats_internal.counter_finish, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_counter_agg(timestamptz, bigint, timestamptz, bigint) IS
'Sums up the readings of a counter that wraps. After wraps_at - 1 the counter goes on with 0, so that wraps_at is 4294967296 for 32 bits. A value that is lower than the one before it has wrapped once; it is a reset only if both have a start_time and these differ. wraps_at is the same in all rows; NULL is that of a counter that never wraps. Errors: 22003 for a value that is negative or not below wraps_at, 22023 for a wraps_at that is not positive or not the same in all rows, and those of jobstats_counter_agg(timestamptz, bigint, timestamptz).';
CREATE AGGREGATE jobstats_rollup(counter jobstats_counter) (
    SFUNC = jobstats_internal.counter_merge, STYPE = internal, FINALFUNC = jobstats_internal.counter_merged, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_rollup(jobstats_counter) IS
'Merges summaries of one counter in spans of time that do not overlap. They may come in any order; what happened between them is in the result. Errors: 22000 for spans that overlap or share an end, 22023 for counters that wrap at different values.';

CREATE TYPE jobstats_density;

CREATE FUNCTION jobstats_internal.density_in(cstring) RETURNS jobstats_density
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'density_in_wrapper';
COMMENT ON FUNCTION jobstats_internal.density_in(cstring) IS 'Internal: from text.';

CREATE FUNCTION jobstats_internal.density_out(jobstats_density) RETURNS cstring
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'density_out_wrapper';
COMMENT ON FUNCTION jobstats_internal.density_out(jobstats_density) IS 'Internal: to text.';

CREATE FUNCTION jobstats_internal.density_recv(internal) RETURNS jobstats_density
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'density_recv_wrapper';
COMMENT ON FUNCTION jobstats_internal.density_recv(internal) IS 'Internal: from a binary message.';

CREATE FUNCTION jobstats_internal.density_send(jobstats_density) RETURNS bytea
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'byteasend';
COMMENT ON FUNCTION jobstats_internal.density_send(jobstats_density) IS 'Internal: to a binary message.';

CREATE TYPE jobstats_density (
    INPUT = jobstats_internal.density_in, OUTPUT = jobstats_internal.density_out,
    RECEIVE = jobstats_internal.density_recv, SEND = jobstats_internal.density_send,
    INTERNALLENGTH = VARIABLE, STORAGE = extended
);
COMMENT ON TYPE jobstats_density IS
'How many values lie in which power of a base: made by jobstats_density_agg(), merged by jobstats_rollup().';

CREATE FUNCTION jobstats_internal.density_eq(jobstats_density, jobstats_density) RETURNS boolean
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'byteaeq';
COMMENT ON FUNCTION jobstats_internal.density_eq(jobstats_density, jobstats_density) IS 'Internal: =.';
CREATE FUNCTION jobstats_internal.density_ne(jobstats_density, jobstats_density) RETURNS boolean
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'byteane';
COMMENT ON FUNCTION jobstats_internal.density_ne(jobstats_density, jobstats_density) IS 'Internal: <>.';
CREATE FUNCTION jobstats_internal.density_hash(jobstats_density) RETURNS integer
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'hashvarlena';
COMMENT ON FUNCTION jobstats_internal.density_hash(jobstats_density) IS 'Internal: for GROUP BY and DISTINCT.';

CREATE OPERATOR = (
    LEFTARG = jobstats_density, RIGHTARG = jobstats_density, FUNCTION = jobstats_internal.density_eq,
    COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR = (jobstats_density, jobstats_density) IS 'The same base and the same counts.';
CREATE OPERATOR <> (
    LEFTARG = jobstats_density, RIGHTARG = jobstats_density, FUNCTION = jobstats_internal.density_ne,
    COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (jobstats_density, jobstats_density) IS 'Not =.';
CREATE OPERATOR CLASS jobstats_density_ops DEFAULT FOR TYPE jobstats_density USING hash AS
    OPERATOR 1 =, FUNCTION 1 jobstats_internal.density_hash(jobstats_density);
COMMENT ON OPERATOR CLASS jobstats_density_ops USING hash IS 'For GROUP BY, DISTINCT and hash joins.';

CREATE FUNCTION jobstats_internal.density_add(internal, double precision) RETURNS internal
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'jobstats-0.2.0', 'density_add_wrapper';
COMMENT ON FUNCTION jobstats_internal.density_add(internal, double precision) IS 'Internal: of jobstats_density_agg.';

CREATE FUNCTION jobstats_internal.density_add(internal, double precision, integer) RETURNS internal
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'jobstats-0.2.0', 'density_add_to_base_wrapper';
COMMENT ON FUNCTION jobstats_internal.density_add(internal, double precision, integer) IS
'Internal: of jobstats_density_agg.';

CREATE FUNCTION jobstats_internal.density_finish(internal) RETURNS jobstats_density
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'density_finish_wrapper';
COMMENT ON FUNCTION jobstats_internal.density_finish(internal) IS
'Internal: of jobstats_density_agg and jobstats_rollup.';

CREATE FUNCTION jobstats_internal.density_merge(internal, jobstats_density) RETURNS internal
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'jobstats-0.2.0', 'density_merge_wrapper';
COMMENT ON FUNCTION jobstats_internal.density_merge(internal, jobstats_density) IS 'Internal: of jobstats_rollup.';

CREATE AGGREGATE jobstats_density_agg(value double precision) (
    SFUNC = jobstats_internal.density_add, STYPE = internal, FINALFUNC = jobstats_internal.density_finish, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_density_agg(double precision) IS
'Counts how many values lie in each power of ten. Bucket y counts the values x with 10^y <= x < 10^(y+1); zeros are counted separately, NULL is ignored. Read it with jobstats_buckets, jobstats_count and jobstats_zeros; merge with jobstats_rollup. Error: 22003 for a negative or infinite value, or NaN.';
CREATE AGGREGATE jobstats_density_agg(value double precision, base integer) (
    SFUNC = jobstats_internal.density_add, STYPE = internal, FINALFUNC = jobstats_internal.density_finish, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_density_agg(double precision, integer) IS
'Counts how many values lie in each power of another base. Like jobstats_density_agg(double precision), with a base from 2 to 100, the same in all rows. Errors: 22003 for a negative or infinite value, or NaN, 22023 for another base.';
CREATE AGGREGATE jobstats_rollup(density jobstats_density) (
    SFUNC = jobstats_internal.density_merge, STYPE = internal, FINALFUNC = jobstats_internal.density_finish, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_rollup(jobstats_density) IS
'Merges densities of the same base into that of all their values. Error: 22023 for different bases.';

-- Evidence: the raw text of the targets of an event outlives other raw text.

CREATE FUNCTION jobstats_internal.evidence_kept_for() RETURNS interval
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT least(s.raw_retention + s.evidence_retention, jobstats_internal.people_kept_for()) FROM jobstats.settings s
$$;
COMMENT ON FUNCTION jobstats_internal.evidence_kept_for() IS
'Internal: how long raw text of events is kept after it was read. It names people, and no longer than these are named.';

CREATE FUNCTION jobstats_internal.evidence_spans(wanted bigint, lasting_after timestamptz) RETURNS TABLE (
    event_id bigint, is_told boolean, began timestamptz, target_id integer, since timestamptz, until timestamptz
)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT e.event_id, e.told IS NOT NULL, e.began, t.target_id, e.began - interval '30 minutes', e.until + interval '30 minutes'
FROM jobstats.events e
CROSS JOIN LATERAL unnest(e.targets) AS n (name)
JOIN (
    SELECT t.cluster, t.name, t.target_id FROM jobstats.targets t
    UNION
    SELECT n.cluster, n.name, n.target_id FROM jobstats.earlier_names n) t ON t.cluster = e.cluster AND t.name = n.name
WHERE e.withdrawn IS NULL AND e.until >= evidence_spans.lasting_after AND (evidence_spans.wanted IS NULL OR e.event_id = evidence_spans.wanted)
$$;
COMMENT ON FUNCTION jobstats_internal.evidence_spans(bigint, timestamptz) IS
'Internal: the spans of which raw text of targets is evidence of an event, or of all that are not withdrawn (NULL), which lasted until after a time: the event, and 30 minutes before and after it.';

CREATE FUNCTION jobstats_internal.store_bytes() RETURNS numeric
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    timescale text := jobstats_internal.timescale_schema();
    bytes numeric;
    in_chunks numeric := 0;
BEGIN
    SELECT sum(pg_total_relation_size(c.oid)) INTO bytes
    FROM pg_class c WHERE c.relnamespace = to_regnamespace('jobstats') AND c.relkind = 'r';
    IF timescale IS NOT NULL THEN
        EXECUTE format('SELECT coalesce(sum(%s.hypertable_size(h.hypertable)), 0) FROM jobstats_internal.hypertables() h', timescale)
            INTO in_chunks;
    END IF;
    RETURN bytes + in_chunks;
END
$$;
COMMENT ON FUNCTION jobstats_internal.store_bytes() IS
'Internal: the bytes on disk of all tables of the store with their indexes.';

CREATE FUNCTION jobstats_internal.keep_evidence(horizon timestamptz) RETURNS bigint
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
WITH kept_since AS MATERIALIZED (
    SELECT now() - jobstats_internal.evidence_kept_for() AS "time"
), candidate AS (
    SELECT s.event_id, s.is_told, s.began, c.*, c."time" > s.began + interval '1 day' AS is_late
    FROM kept_since k
    CROSS JOIN LATERAL jobstats_internal.evidence_spans(NULL::bigint, k."time" - interval '30 minutes') s
    CROSS JOIN LATERAL (
        SELECT e.target_id, e."time", octet_length(e.body) + coalesce(octet_length(e.carried), 0) AS bytes
        FROM jobstats.evidence e WHERE e.target_id = s.target_id AND e."time" >= s.since AND e."time" <= s.until
        UNION
        SELECT r.target_id, r."time", octet_length(r.body) + coalesce(octet_length(r.carried), 0)
        FROM jobstats.raw r WHERE r.target_id = s.target_id AND r."time" >= s.since AND r."time" <= s.until AND r."time" < horizon) c
    WHERE c."time" >= k."time"
), text AS (
    -- A text of several events counts for the one that keeps it longest, and the larger of two copies that differ.
    SELECT DISTINCT ON (c.target_id, c."time") c.*
    FROM candidate c
    ORDER BY c.target_id, c."time", c.is_late, c.is_told DESC, c.began DESC, c.event_id, c.bytes DESC
), kept AS MATERIALIZED (
    SELECT t.target_id, t."time"
    FROM (
        -- A target may be full for weeks, so texts of later days of an event come last.
        SELECT t.target_id, t."time",
            sum(t.bytes) OVER (ORDER BY t.is_late, t.is_told DESC, t.began DESC, t.event_id, t."time", t.target_id) AS bytes
        FROM text t) t
    WHERE t.bytes <= (SELECT jobstats_internal.store_bytes()) / 20
), gone AS (
    DELETE FROM jobstats.evidence e
    WHERE NOT EXISTS (SELECT FROM kept k WHERE k.target_id = e.target_id AND k."time" = e."time")
    RETURNING e.target_id
), added AS (
    INSERT INTO jobstats.evidence ("time", target_id, server, body, carried)
    SELECT r."time", r.target_id, r.server, r.body, r.carried
    FROM kept k JOIN jobstats.raw r ON r.target_id = k.target_id AND r."time" = k."time"
    WHERE NOT EXISTS (SELECT FROM jobstats.evidence e WHERE e.target_id = k.target_id AND e."time" = k."time")
    RETURNING target_id
)
SELECT (SELECT count(*) FROM gone) + (SELECT count(*) FROM added)
$$;
COMMENT ON FUNCTION jobstats_internal.keep_evidence(timestamptz) IS
'Internal: copies raw text of events that is older than the horizon, before it is dropped, and deletes copies that are too old, of no event any more, or above a twentieth of the bytes of the store; returns how many texts that were. First go texts of an event from after its first day, then those of events that nobody was told of, then those of the oldest events.';

-- What is usual at a site, by which jobstats_findings() judges. A day is judged once: work that becomes known later changes little.
-- To judge a day takes as long as to read all its increments, so each call judges a part of it: first the sizes of reads and
-- writes are summed up by job, ten minutes at a time; then some jobs at a time are valued; then the rules get their values, one at a time.
CREATE FUNCTION jobstats_internal.judge_some() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
    known timestamptz := (SELECT l.refreshed FROM jobstats.rollups l WHERE l.level = '1d');
    progress record;
    batch text[];
BEGIN
    SELECT * INTO progress FROM jobstats.finding_progress;
    IF progress.day IS NULL THEN
        INSERT INTO jobstats.finding_progress (day, sized)
        SELECT d.day, d.day - interval '1 day'
        FROM (
            SELECT s.day
            FROM generate_series(jobstats_internal.bucket(interval '24 hours', known), known - interval '29 days', interval '-1 day') AS s (day)
            WHERE s.day <= known AND NOT EXISTS (SELECT FROM jobstats.finding_days f WHERE f.day = s.day)
            OFFSET 0
        ) d
        -- OFFSET 0 keeps the planner from reading all increments to find out of which days there are some.
        WHERE EXISTS (SELECT FROM jobstats.increments i WHERE i."time" > d.day - interval '1 day' AND i."time" <= d.day OFFSET 0)
        ORDER BY d.day DESC
        LIMIT 1
        RETURNING day INTO progress.day;
        -- From now on the day is not begun again, whatever becomes of it.
        INSERT INTO jobstats.finding_days (day, finding, "values")
        SELECT progress.day, r.finding, '{}' FROM jobstats.finding_rules r WHERE progress.day IS NOT NULL;
        DELETE FROM jobstats.finding_days f WHERE f.day <= known - interval '30 days';
        RETURN CASE WHEN progress.day IS NOT NULL THEN 0 END;
    ELSIF progress.sized < progress.day THEN
        INSERT INTO jobstats.finding_sizes AS s (job, reads, small_reads, writes, small_writes)
        SELECT e.job, coalesce(sum(i.reads), 0), coalesce(sum(i.small_reads), 0), coalesce(sum(i.writes), 0), coalesce(sum(i.small_writes), 0)
        FROM (
            -- The first 16 elements are those of at most 32 KiB.
            SELECT u.entry_id, sum(jobstats_internal.sized(u.read_bytes_hist, 32)) AS reads,
                sum(jobstats_internal.sized(u.read_bytes_hist, 16)) AS small_reads,
                sum(jobstats_internal.sized(u.write_bytes_hist, 32)) AS writes,
                sum(jobstats_internal.sized(u.write_bytes_hist, 16)) AS small_writes
            FROM jobstats.increments u
            WHERE u."time" > progress.sized AND u."time" <= progress.sized + interval '10 minutes'
            GROUP BY u.entry_id
        ) i
        JOIN jobstats.entries e ON e.entry_id = i.entry_id
        WHERE e.job IS NOT NULL
        GROUP BY e.job
        ON CONFLICT (job) DO UPDATE SET reads = s.reads + excluded.reads, small_reads = s.small_reads + excluded.small_reads,
            writes = s.writes + excluded.writes, small_writes = s.small_writes + excluded.small_writes;
        UPDATE jobstats.finding_progress SET sized = progress.sized + interval '10 minutes';
        RETURN 0;
    END IF;
    batch := ARRAY(SELECT s.job FROM jobstats.finding_sizes s WHERE s.job > progress.job ORDER BY s.job LIMIT 1000);
    IF batch <> '{}' THEN
        INSERT INTO jobstats.finding_days AS f (day, finding, "values")
        SELECT progress.day, v.finding, v."values"
        FROM jobstats_internal.finding_values(progress.day - interval '1 day', progress.day,
            ARRAY(SELECT e.entry_id FROM jobstats.entries e WHERE e.job = ANY (batch))) v
        ON CONFLICT (day, finding) DO UPDATE SET "values" = f."values" || excluded."values";
        UPDATE jobstats.finding_progress SET job = batch[cardinality(batch)];
        RETURN cardinality(batch);
    END IF;
    UPDATE jobstats.finding_progress p SET rule = n.finding
    FROM (SELECT r.finding FROM jobstats.finding_rules r WHERE r.finding > progress.rule ORDER BY r.finding LIMIT 1) n
    RETURNING p.rule INTO progress.rule;
    IF NOT FOUND THEN
        DELETE FROM jobstats.finding_progress;
        DELETE FROM jobstats.finding_sizes;
    END IF;
    UPDATE jobstats.finding_rules r
    SET jobs = u.jobs, fair_of_site = CASE WHEN u.jobs >= 100 THEN u.few[1] END, bad_of_site = CASE WHEN u.jobs >= 100 THEN u.few[2] END
    FROM (
        SELECT count(*) AS jobs, percentile_disc(ARRAY[0.95, 0.99]) WITHIN GROUP (ORDER BY v.value) AS few
        FROM jobstats.finding_days f CROSS JOIN LATERAL unnest(f."values") AS v (value)
        WHERE f.finding = progress.rule
    ) u
    WHERE r.finding = progress.rule;
    RETURN 0;
END
$$;
COMMENT ON FUNCTION jobstats_internal.judge_some() IS
'Internal: takes the next step of valuing the jobs of a day, the newest of the last 30 that rollups know and that is not valued yet, and of what is usual by then; returns the number of jobs valued in it, NULL: no day was left.';

CREATE FUNCTION jobstats_internal.judge_item(item jsonb, OUT affected bigint, OUT more jsonb)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    affected := jobstats_internal.judge_some();
    more := jobstats_internal.part_items(item, affected);
EXCEPTION
    WHEN lock_not_available THEN
        RAISE;
    WHEN OTHERS THEN
        -- Tried again, the day would most likely fail again, in each call for 30 days.
        DELETE FROM jobstats.finding_progress;
        DELETE FROM jobstats.finding_sizes;
        more := jsonb_build_array(item || jsonb_build_object('do', 'fail', 'problem', 'a day is not judged any further: ' || SQLERRM));
END
$$;
COMMENT ON FUNCTION jobstats_internal.judge_item(jsonb) IS
'Internal: takes a step of valuing the jobs of a day, and gives the item of the next one; gives a day up whose step fails.';

-- A front: a database that has no rows of its own and answers for the stores of its nodes, through foreign tables of postgres_fdw.

CREATE FUNCTION jobstats_internal.make_front() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET client_min_messages = warning
AS $$
DECLARE
    relations text[];
    kinds text[];
    node text;
BEGIN
    SELECT array_agg(r.relation ORDER BY r.kind = 'derived'), array_agg(r.kind ORDER BY r.kind = 'derived') INTO relations, kinds
    FROM jobstats_internal.front_relations() r;
    FOR n IN 1 .. cardinality(relations) LOOP
        CONTINUE WHEN kinds[n] = 'derived';
        EXECUTE format('CREATE TABLE %s (LIKE jobstats.%I)%s', jobstats_internal.new_relation(relations[n], kinds[n]), relations[n],
            CASE kinds[n] WHEN 'ranges' THEN ' PARTITION BY RANGE (target_id)' END);
    END LOOP;
    PERFORM jobstats_internal.drop_relations(relations);
    FOR n IN 1 .. cardinality(relations) LOOP
        EXECUTE format(CASE WHEN kinds[n] IN ('merged', 'derived') THEN 'CREATE VIEW jobstats.%I AS %s' ELSE 'ALTER TABLE jobstats.%3$I RENAME TO %1$I' END,
            relations[n], jobstats_internal.merged_view(relations[n]), 'new ' || relations[n]);
    END LOOP;
    UPDATE jobstats.settings SET front = true;
    FOR node IN SELECT a.name FROM jobstats.attached a ORDER BY a.node LOOP
        PERFORM jobstats_internal.show_node(node, '{ranges,union,merged}');
    END LOOP;
    PERFORM jobstats_internal.show_accounting();
END
$$;
COMMENT ON FUNCTION jobstats_internal.make_front() IS
'Internal: puts tables without rows, of which foreign tables of nodes are parts, in the place of those of an empty store.';

CREATE FUNCTION jobstats_internal.new_relation(relation text, kind text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT format('jobstats.%I', CASE kind WHEN 'merged' THEN 'of nodes ' ELSE 'new ' END || relation)
$$;
COMMENT ON FUNCTION jobstats_internal.new_relation(text, text) IS
'Internal: the table that is made for a relation of a front.';

CREATE FUNCTION jobstats_internal.drop_relations(relations text[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET client_min_messages = warning
AS $$
DECLARE
    relation text;
BEGIN
    FOREACH relation IN ARRAY relations LOOP
        -- A view may have gone with what it was on.
        EXECUTE format('DROP %s IF EXISTS jobstats.%I CASCADE',
            CASE (SELECT c.relkind FROM pg_class c WHERE c.oid = to_regclass(format('jobstats.%I', relation))) WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END, relation);
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_internal.drop_relations(text[]) IS
'Internal: drops relations of a store with all that depends on them.';

CREATE FUNCTION jobstats_internal.unmake_front() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET client_min_messages = warning
AS $$
BEGIN
    PERFORM jobstats_internal.drop_relations(ARRAY(
        SELECT r.relation FROM jobstats_internal.front_relations() r
        UNION ALL
        SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'jobstats'::regnamespace AND c.relname LIKE 'of nodes %' AND c.relkind = 'r'));
END
$$;
COMMENT ON FUNCTION jobstats_internal.unmake_front() IS
'Internal: drops what shows rows of nodes in a front, so that it is made anew.';

CREATE FUNCTION jobstats_internal.show_node(name text, kinds text[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET client_min_messages = warning
AS $$
#variable_conflict use_column
DECLARE
    attached jobstats.attached;
    it record;
BEGIN
    SELECT a.* INTO STRICT attached FROM jobstats.attached a WHERE a.name = show_node.name;
    FOR it IN SELECT r.relation, r.kind, attached.name || ' ' || r.relation AS part,
            format(' PARTITION OF jobstats.%I FOR VALUES FROM (%s) TO (%s)', r.relation,
                jobstats_internal.first_target(attached.node), jobstats_internal.first_target(attached.node + 1)) AS partition
        FROM jobstats_internal.front_relations() r WHERE r.kind = ANY (show_node.kinds)
    LOOP
        IF attached.left_out_since IS NULL OR it.relation = 'node_state' THEN
            EXECUTE format('CREATE FOREIGN TABLE jobstats.%I ' || CASE it.kind WHEN 'ranges' THEN it.partition
                WHEN 'merged' THEN '() INHERITS (jobstats.%4$I)' ELSE '() INHERITS (jobstats.%3$I)' END
                || ' SERVER %2$I OPTIONS (schema_name ''jobstats'', table_name %3$L, updatable ''false'', truncatable ''false''%5$s)',
                it.part, 'jobstats_' || attached.name, it.relation, 'of nodes ' || it.relation,
                -- Texts are long.
                CASE WHEN it.relation IN ('raw', 'raw_text', 'evidence', 'rejects', 'target_readings') THEN ', fetch_size ''100'''
                    -- While a connection is busy with one table, PostgreSQL does not begin the next on all nodes at once. What is read beside rows of
                    -- work is therefore read node by node.
                    WHEN it.relation IN ('entries', 'entry_jobs') THEN ', async_capable ''false'''
                    -- These are short, whatever is asked of them: to have a node estimate that costs more than it saves.
                    WHEN it.relation IN ('coarse', 'dirty', 'dirty_users', 'refresh', 'rollup_states', 'targets', 'observed', 'observation_ends', 'baselines', 'last_observations', 'paces',
                        'users', 'earlier_users', 'groups', 'earlier_groups', 'nodes') THEN ', use_remote_estimate ''false'', async_capable ''false''' END);
        ELSIF it.relation = 'targets' THEN
            -- What is missing is known by its name, and counted.
            EXECUTE format('CREATE TABLE jobstats.%I' || it.partition, it.part);
            BEGIN
                INSERT INTO jobstats.targets SELECT t.* FROM jsonb_populate_recordset(NULL::jobstats.targets, attached.known_targets) t
                -- A node may say what is not its own.
                WHERE (t.target_id - 1) / 65536 = attached.node;
            EXCEPTION WHEN integrity_constraint_violation OR data_exception THEN
                -- Nor need it say targets; those that an earlier version said may lack a column.
                RAISE WARNING 'targets of node "%" are not known: %', attached.name, SQLERRM;
            END;
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_internal.show_node(text, text[]) IS
'Internal: makes the tables of these kinds of an attached node: foreign tables, or one of the targets that are known of a node that is left out.';

CREATE FUNCTION jobstats_internal.hide_node(name text, kinds text[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET client_min_messages = warning
AS $$
DECLARE
    part record;
BEGIN
    FOR part IN SELECT c.oid::regclass AS relation, c.relkind FROM jobstats_internal.front_relations() r
        JOIN pg_class c ON c.relname = hide_node.name || ' ' || r.relation AND c.relnamespace = 'jobstats'::regnamespace
        WHERE r.kind = ANY (hide_node.kinds)
    LOOP
        EXECUTE format('DROP %s %s CASCADE', CASE part.relkind WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END, part.relation);
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_internal.hide_node(text, text[]) IS
'Internal: drops the tables of these kinds of an attached node.';

CREATE FUNCTION jobstats_internal.show_accounting() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    node text := jobstats_internal.accounting_node();
BEGIN
    PERFORM jobstats_internal.hide_node(a.name, '{accounting}') FROM jobstats.attached a;
    IF node IS NOT NULL THEN
        PERFORM jobstats_internal.show_node(node, '{accounting}');
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.show_accounting() IS
'Internal: shows names and jobs as one node knows them.';

CREATE FUNCTION jobstats_internal.accounting_node() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT a.name FROM jobstats.attached a WHERE a.left_out_since IS NULL ORDER BY a.accounting DESC, a.node LIMIT 1
$$;
COMMENT ON FUNCTION jobstats_internal.accounting_node() IS
'Internal: the node as which a front knows names and jobs: the one with accounting, or of the lowest number while that is left out; NULL: all are.';

CREATE FUNCTION jobstats_attach(
    name text, host text DEFAULT NULL, port integer DEFAULT NULL, dbname text DEFAULT NULL, "user" text DEFAULT NULL, password text DEFAULT NULL,
    accounting boolean DEFAULT NULL
) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET client_min_messages = warning SET lock_timeout = '3s'
AS $$
#variable_conflict use_column
DECLARE
    server CONSTANT text := 'jobstats_' || jobstats_attach.name;
    is_new CONSTANT boolean := num_nonnulls(host, port, dbname, "user", password) > 0;
    state jsonb;
    limited boolean;
BEGIN
    PERFORM jobstats_internal.lock_front();
    limited := jobstats_internal.limit_wait();
    PERFORM jobstats_internal.require_attachable(jobstats_attach.name, is_new, "user");
    IF is_new THEN
        EXECUTE format('CREATE SERVER %I FOREIGN DATA WRAPPER postgres_fdw OPTIONS (extensions ''jobstats'', async_capable ''true'', fetch_size ''10000'', fdw_tuple_cost ''0.2'', '
            -- Of a machine that is gone nobody hears. A node whose machine answers ends a statement by itself.
            'use_remote_estimate ''true'', connect_timeout ''10'', keepalives_idle ''10'', keepalives_interval ''10'', tcp_user_timeout ''30000'', '
            'options ''-c statement_timeout=300s''%s)', server, (
                SELECT string_agg(format(', %s %L', o.name, o.value), '' ORDER BY o.name)
                FROM (VALUES ('host', host), ('port', port::text), ('dbname', dbname)) AS o (name, value) WHERE o.value IS NOT NULL));
        EXECUTE format('CREATE USER MAPPING FOR PUBLIC SERVER %I OPTIONS (%s)', server, (
                SELECT string_agg(format('%I %L', o.name, o.value), ', ' ORDER BY o.name)
                FROM (VALUES ('user', "user"), ('password', password),
                    -- A superuser answers for a connection that a certificate or the socket lets in, whoever reads.
                    ('password_required', CASE WHEN password IS NULL AND (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = current_user) THEN 'false' END))
                    AS o (name, value)
                WHERE o.value IS NOT NULL));
    END IF;
    state := jobstats_internal.state_of_node(server);
    PERFORM jobstats_internal.require_node(jobstats_attach.name, state);
    INSERT INTO jobstats.attached AS a (name, node, accounting)
    VALUES (jobstats_attach.name, (state ->> 'node')::integer, coalesce(jobstats_attach.accounting, NOT EXISTS (SELECT FROM jobstats.attached o WHERE o.accounting)))
    ON CONFLICT (name) DO UPDATE SET node = excluded.node, accounting = coalesce(jobstats_attach.accounting, a.accounting), left_out_since = NULL;
    IF jobstats_attach.accounting THEN
        UPDATE jobstats.attached a SET accounting = false WHERE a.name <> jobstats_attach.name;
    END IF;
    PERFORM jobstats_internal.build_front();
    PERFORM jobstats_internal.note_node(jobstats_attach.name);
    IF is_new THEN
        PERFORM jobstats_internal.require_own_numbers(jobstats_attach.name);
    END IF;
    PERFORM jobstats_internal.end_wait(limited);
    RETURN format('Node %s, number %s, version %s: %s targets.', jobstats_attach.name, state ->> 'node', state ->> 'version', state ->> 'targets');
END
$$;
COMMENT ON FUNCTION jobstats_attach(text, text, integer, text, text, text, boolean) IS
'Makes this database a front, and shows the store of a node in it. The database has an empty store, or is a front already. host, port, dbname, user (who asks) and password are those of the node, whose owner has called jobstats_grant_reader() for that user. accounting: names and jobs are shown as this node knows them; NULL: of the first node. For an attached node give the name alone: the front is made anew, by the version of the extension that is installed now, and shows the node if it was left out. Returns what it found. Errors: 22004 for no user, 22023 for a name that is none, 42710 for a name that is taken, 42704 for a node that is not attached, 55000 where postgres_fdw is missing, where this store has rows, and for a node that is a front or of another version or collation, 23505 for a number, targets or entries that another node has, 42501 where the caller is not the owner of the store, 55P03 where questions keep it waiting for three seconds, 08001 where the node does not answer.';

CREATE FUNCTION jobstats_internal.require_own_numbers(name text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    others text := (SELECT string_agg(t.target, ', ') FROM (SELECT t.target FROM jobstats_internal.targets_of_two() t LIMIT 5) t);
BEGIN
    IF others IS NOT NULL THEN
        RAISE unique_violation USING
            MESSAGE = format('node "%s" has targets that another node has: %s', require_own_numbers.name, others),
            HINT = 'All servers that a target can be on feed the same node. Where the target is no more: SELECT jobstats_retire_target(…); SELECT jobstats_drop_targets(…);';
    END IF;
    IF EXISTS (
        SELECT FROM (SELECT e.entry_id FROM jobstats.entries e ORDER BY e.entry_id LIMIT 10000) e GROUP BY e.entry_id HAVING count(*) > 1)
    THEN
        RAISE unique_violation USING
            MESSAGE = format('node "%s" gives entries the numbers that another node gives them', require_own_numbers.name),
            HINT = 'One is a copy of the other: jobstats_setup(node => …) gives it a number and keys of its own.';
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.require_own_numbers(text) IS
'Internal: fails with 23505 where a node that is new in a front has targets or entries of another one.';

CREATE FUNCTION jobstats_internal.targets_of_two() RETURNS TABLE (cluster text, name text, target text, nodes text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT t.cluster, t.name, concat_ws('/', nullif(t.cluster, ''), t.name), string_agg(a.name, ', ' ORDER BY a.node)
    FROM jobstats.targets t
    JOIN jobstats.attached a ON a.node = (t.target_id - 1) / 65536
    WHERE t.retired IS NULL
    GROUP BY t.cluster, t.name
    HAVING count(*) > 1
    ORDER BY t.cluster, t.name;
END
$$;
COMMENT ON FUNCTION jobstats_internal.targets_of_two() IS
'Internal: the targets of a front that several nodes have, and that are retired on none of these.';

CREATE FUNCTION jobstats_internal.lock_front() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM jobstats_internal.require_store();
    -- What the owner has put on tables must not run with the rights of another role, and tables of another role are none of the store's.
    IF NOT EXISTS (SELECT FROM pg_namespace n WHERE n.nspname = 'jobstats' AND pg_get_userbyid(n.nspowner) = current_user) THEN
        RAISE insufficient_privilege USING
            MESSAGE = 'only the owner of the store of jobstats can do this', HINT = 'SET ROLE to the owner of the schema jobstats.';
    END IF;
    -- One at a time.
    LOCK TABLE jobstats.attached IN EXCLUSIVE MODE;
END
$$;
COMMENT ON FUNCTION jobstats_internal.lock_front() IS
'Internal: keeps others from attaching and detaching nodes. Errors: 42501 where the caller is not the owner of the store, 55000 where there is none.';

CREATE FUNCTION jobstats_internal.require_attachable(name text, is_new boolean, asker text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    is_attached boolean;
BEGIN
    IF (require_attachable.name ~ '^[a-z][a-z0-9_]{0,19}$') IS NOT TRUE THEN
        RAISE invalid_parameter_value USING
            MESSAGE = format('name %L is none for a node', left(require_attachable.name, 60)),
            HINT = 'Give 1 to 20 lower-case letters, digits and underscores, the first a letter, as in ''scratch''.';
    ELSIF NOT EXISTS (SELECT FROM pg_extension e WHERE e.extname = 'postgres_fdw') THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = 'the extension postgres_fdw is missing in this database', HINT = 'A superuser runs CREATE EXTENSION postgres_fdw;';
    END IF;
    is_attached := EXISTS (SELECT FROM jobstats.attached a JOIN pg_foreign_server f ON f.srvname = 'jobstats_' || a.name WHERE a.name = require_attachable.name);
    IF is_attached AND is_new THEN
        RAISE duplicate_object USING
            MESSAGE = format('node "%s" is attached', require_attachable.name),
            HINT = 'Give the name alone to show it anew. ALTER SERVER and ALTER USER MAPPING change its connection, or jobstats_detach() first.';
    ELSIF NOT is_attached AND NOT is_new THEN
        RAISE undefined_object USING
            MESSAGE = format('node "%s" is not attached', require_attachable.name), HINT = 'Give host, dbname and user of its store.';
    ELSIF is_new AND asker IS NULL THEN
        RAISE null_value_not_allowed USING
            MESSAGE = 'user must not be NULL', HINT = 'Name the role of the front, which the owner of the node lets read with jobstats_grant_reader().';
    ELSIF NOT (SELECT s.front FROM jobstats.settings s)
        AND (EXISTS (SELECT FROM jobstats.targets) OR EXISTS (SELECT FROM jobstats.entries) OR EXISTS (SELECT FROM jobstats.texts))
    THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = 'this store has rows of its own', HINT = 'Make the front in a database with an empty store, and attach this one to it.';
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.require_attachable(text, boolean, text) IS
'Internal: fails as jobstats_attach() says where that depends on this database and the name alone.';

CREATE FUNCTION jobstats_internal.state_of_node(server text) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    state jsonb;
BEGIN
    EXECUTE format('CREATE FOREIGN TABLE pg_temp.jobstats_node (node integer, front boolean, version text, sorting text, database oid, started timestamptz, '
        'targets bigint) SERVER %I OPTIONS (schema_name ''jobstats'', table_name ''node_state'')', server);
    EXECUTE 'SELECT to_jsonb(n) FROM pg_temp.jobstats_node n' INTO state;
    EXECUTE 'DROP FOREIGN TABLE pg_temp.jobstats_node';
    RETURN state;
END
$$;
COMMENT ON FUNCTION jobstats_internal.state_of_node(text) IS
'Internal: the row of jobstats.node_state of a store.';

CREATE FUNCTION jobstats_internal.require_node(name text, state jsonb) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    own jsonb;
    other text;
BEGIN
    SELECT jsonb_build_object(text 'version', e.extversion, text 'sorting', d.datcollate || ' ' || d.encoding, text 'database', d.oid,
        text 'started', pg_postmaster_start_time())
    INTO own
    FROM pg_extension e, pg_database d WHERE e.extname = 'jobstats' AND d.datname = current_database();
    SELECT a.name INTO other FROM jobstats.attached a WHERE a.node = (state ->> 'node')::integer AND a.name <> require_node.name;
    IF (state ->> 'node')::bigint NOT BETWEEN 0 AND 32766 THEN
        RAISE invalid_parameter_value USING
            MESSAGE = format('node "%s" has the number %s', require_node.name, state ->> 'node'), HINT = 'Numbers are from 0 to 32766.';
    ELSIF (state ->> 'front')::boolean OR (state -> 'database', state ->> 'started') = (own -> 'database', own ->> 'started') THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = format('node "%s" is a front', require_node.name), HINT = 'Attach its nodes, one by one.';
    ELSIF state -> 'version' IS DISTINCT FROM own -> 'version' THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = format('the store of node "%s" is of version %s, this extension of version %s', require_node.name, state ->> 'version', own ->> 'version'),
            HINT = 'Bring both to the same version: ALTER EXTENSION jobstats UPDATE; and on the node SELECT jobstats_setup();';
    ELSIF state -> 'sorting' IS DISTINCT FROM own -> 'sorting' THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = format('node "%s" sorts text by %s, this database by %s', require_node.name, state ->> 'sorting', own ->> 'sorting'),
            HINT = 'Make this database with the LC_COLLATE of its nodes: CREATE DATABASE … TEMPLATE template0 LC_COLLATE …';
    ELSIF other IS NOT NULL THEN
        RAISE unique_violation USING
            MESSAGE = format('nodes "%s" and "%s" have the same number %s', require_node.name, other, state ->> 'node'),
            HINT = 'A new store gets its number before it is fed: SELECT jobstats_setup(node => 1);';
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.require_node(text, jsonb) IS
'Internal: fails as jobstats_attach() says where a store cannot be a node of this front.';

CREATE FUNCTION jobstats_detach(name text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET client_min_messages = warning SET lock_timeout = '3s'
AS $$
#variable_conflict use_column
DECLARE
    had_accounting boolean;
BEGIN
    PERFORM jobstats_internal.lock_front();
    DELETE FROM jobstats.attached a WHERE a.name = jobstats_detach.name RETURNING a.accounting INTO had_accounting;
    IF NOT FOUND THEN
        RAISE undefined_object USING
            MESSAGE = format('node "%s" is not attached', left(jobstats_detach.name, 60)), HINT = 'jobstats_nodes() lists those that are.';
    END IF;
    PERFORM jobstats_internal.hide_node(jobstats_detach.name, '{ranges,union,merged,accounting}');
    EXECUTE format('DROP SERVER IF EXISTS %I CASCADE', 'jobstats_' || jobstats_detach.name);
    IF had_accounting THEN
        UPDATE jobstats.attached a SET accounting = true WHERE a.node = (SELECT min(o.node) FROM jobstats.attached o);
    END IF;
    PERFORM jobstats_internal.show_accounting();
END
$$;
COMMENT ON FUNCTION jobstats_detach(text) IS
'Takes a node out of a front. The store of the node stays as it is, and the front answers for the others; users and jobs are shown as the node of the lowest number knows them, if this node had the accounting. Errors: 42704 for a node that is not attached, 42501 where the caller is not the owner of the store, 55000 where there is none, 55P03 where questions keep it waiting for three seconds.';

-- Divides a store: of two copies, each drops what the other one keeps.
--
-- What was summed over targets and can no longer be divided stays whole in one of the copies, so that both have it once: used space of days with the first
-- target of its file system, all else with the first target of the store.

CREATE FUNCTION jobstats_internal.require_droppable(gone integer[], cluster text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    other text;
BEGIN
    IF gone = '{}' THEN
        RAISE invalid_parameter_value USING MESSAGE = format('no target of cluster %L is called like that', left(cluster, 60)),
            HINT = 'Give names in jobstats.targets, or patterns with *, and the cluster.';
    END IF;
    SELECT string_agg(t.name, ', ' ORDER BY t.name) INTO other
    FROM (SELECT t.name FROM jobstats.targets t WHERE t.target_id = ANY (gone) AND t.retired IS NULL ORDER BY t.name LIMIT 5) t;
    IF other IS NOT NULL THEN
        RAISE object_not_in_prerequisite_state USING MESSAGE = format('these targets may report again: %s', other),
            HINT = 'Let their servers feed another node, and call jobstats_retire_target() for each of them.';
    END IF;
    SELECT string_agg(s.server, ', ' ORDER BY s.server) INTO other
    FROM (SELECT s.server FROM jobstats_internal.servers_of_targets(gone) s WHERE s.is_gone AND s.is_kept ORDER BY s.server LIMIT 5) s;
    IF other IS NOT NULL THEN
        RAISE object_not_in_prerequisite_state USING MESSAGE = format('servers have reported these targets and others: %s', other),
            HINT = 'Drop all targets that these servers can have, or none of them.';
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.require_droppable(integer[], text) IS
'Internal: fails with 22023 for no targets, with 55000 for targets that are not retired, and for some of the targets of a server.';

CREATE FUNCTION jobstats_internal.servers_of_targets(gone integer[]) RETURNS TABLE (cluster text, server text, is_gone boolean, is_kept boolean)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT t.cluster, o.server, bool_or(t.target_id = ANY (gone)), bool_or(t.target_id <> ALL (gone))
FROM jobstats.targets t
CROSS JOIN LATERAL (SELECT DISTINCT o.server FROM jobstats.observations o WHERE o.target_id = t.target_id) o
GROUP BY t.cluster, o.server
$$;
COMMENT ON FUNCTION jobstats_internal.servers_of_targets(integer[]) IS
'Internal: the servers that have reported targets, and whether they have reported some of these, and others.';

CREATE FUNCTION jobstats_internal.drop_servers(gone integer[], everything_else boolean) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    relation text;
    dropped text[];
    kept text[];
    condition CONSTANT text := 'format(''%L/%L'', cluster, $server) = ANY ($1) OR $3 AND format(''%L/%L'', cluster, $server) <> ALL ($2)';
BEGIN
    SELECT coalesce(array_agg(format('%L/%L', s.cluster, s.server)) FILTER (WHERE s.is_gone), '{}'),
        coalesce(array_agg(format('%L/%L', s.cluster, s.server)) FILTER (WHERE s.is_kept), '{}')
    INTO dropped, kept FROM jobstats_internal.servers_of_targets(gone) s;
    FOR relation IN
        SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = 'jobstats'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
            -- Every node gets the texts of people and jobs.
            AND c.relname NOT IN ('texts', 'feed', 'writers')
        GROUP BY c.relname HAVING array_agg(a.attname) @> '{cluster,server}'
    LOOP
        EXECUTE format('DELETE FROM jobstats.%I WHERE (%s)%s', relation, replace(condition, '$server', 'server'),
            CASE relation WHEN 'sample_series' THEN ' AND target_id IS NULL'
                -- One of a target, wherever it is, goes with that.
                WHEN 'expected' THEN ' AND (server IS NOT NULL OR NOT EXISTS (
                    SELECT FROM jobstats.targets t WHERE t.cluster = expected.cluster AND t.name = expected.target))' END)
            USING dropped, kept, everything_else;
    END LOOP;
    EXECUTE format('DELETE FROM jobstats.events WHERE targets = ''{}'' AND servers <> ''{}'' AND (%s)', replace(condition, '$server', 'servers[1]'))
        USING dropped, kept, everything_else;
END
$$;
COMMENT ON FUNCTION jobstats_internal.drop_servers(integer[], boolean) IS
'Internal: deletes what is stored of the servers of these targets; everything_else: and of servers that no target is known of.';

CREATE FUNCTION jobstats_internal.drop_sums(gone integer[], everything_else boolean) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
-- Maintenance makes the summaries of jobs again that it still can make.
WITH known AS (
    SELECT s.job_no, s.ended FROM jobstats.job_summaries s JOIN jobstats.job_ids j ON j.job_no = s.job_no
    WHERE j.ended IS NOT NULL AND j.started >= (SELECT l.dropped FROM jobstats.rollups l WHERE l.level = '1d')
        AND (s.runs <= j.runs OR s.started >= (SELECT now() - t.jobs_retention FROM jobstats.settings t))
), again AS (
    INSERT INTO jobstats.to_summarize (job_no, due) SELECT k.job_no, k.ended FROM known k ON CONFLICT DO NOTHING
)
DELETE FROM jobstats.job_summaries s WHERE everything_else OR s.job_no IN (SELECT k.job_no FROM known k);
WITH filesystem AS (
    SELECT t.cluster, coalesce(t.filesystem, '') AS name, min(t.target_id) = ANY (gone) AS first_is_gone, bool_and(t.target_id = ANY (gone)) AS is_gone
    FROM jobstats.targets t
    GROUP BY 1, 2
), events AS (
    DELETE FROM jobstats.events e USING filesystem f
    WHERE f.first_is_gone AND e.cluster = f.cluster AND e.filesystem = f.name AND e.targets = '{}' AND e.servers = '{}'
), usual AS (
    DELETE FROM jobstats.usual_largest u USING filesystem f WHERE f.is_gone AND u.cluster = f.cluster AND u.filesystem = f.name
)
DELETE FROM jobstats.used u USING filesystem f WHERE f.first_is_gone AND u.cluster = f.cluster AND u.filesystem = f.name;
DELETE FROM jobstats.events e
USING (SELECT t.target_id, t.cluster, t.name FROM jobstats.targets t UNION ALL SELECT n.target_id, n.cluster, n.name FROM jobstats.earlier_names n) t
WHERE t.target_id = ANY (gone) AND e.cluster = t.cluster AND e.targets[1] = t.name;
DELETE FROM jobstats.expected e USING jobstats.targets t WHERE t.target_id = ANY (gone) AND e.cluster = t.cluster AND e.target = t.name;
$$;
COMMENT ON FUNCTION jobstats_internal.drop_sums(integer[], boolean) IS
'Internal: deletes what is summed over targets and belongs to these; everything_else: and the summaries of jobs that nobody can make again.';

CREATE FUNCTION jobstats_internal.drop_targets(arguments jsonb) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    gone integer[];
    everything_else boolean;
    it record;
BEGIN
    -- What is refused locks nothing; what may change until the locks are held is checked once more.
    FOR round IN 1..2 LOOP
        gone := ARRAY(
            SELECT t.target_id FROM jobstats.targets t
            WHERE t.cluster = coalesce(arguments ->> 'cluster', '') AND t.name LIKE ANY (jobstats_internal.as_like(
                ARRAY(SELECT jsonb_array_elements_text(arguments -> 'targets')))));
        PERFORM jobstats_internal.require_droppable(gone, coalesce(arguments ->> 'cluster', ''));
        IF round = 1 THEN
            PERFORM jobstats_internal.lock_everything();
        END IF;
    END LOOP;
    everything_else := (SELECT min(t.target_id) FROM jobstats.targets t) = ANY (gone);
    PERFORM set_config('jobstats.drops_history', 'on', true);
    PERFORM jobstats_internal.drop_sums(gone, everything_else);
    PERFORM jobstats_internal.drop_servers(gone, everything_else);
    FOR it IN SELECT n.* FROM jobstats_internal.numbered_relations() n WHERE 'target_id' = ANY (n.columns) LOOP
        EXECUTE format('DELETE FROM %s r WHERE r.target_id = ANY ($1)', it.stored) USING gone;
    END LOOP;
    FOR it IN SELECT n.* FROM jobstats_internal.numbered_relations() n WHERE 'series_id' = ANY (n.columns) AND n.gives IS NULL LOOP
        EXECUTE format('DELETE FROM %s r WHERE NOT EXISTS (SELECT FROM jobstats.sample_series s WHERE s.series_id = r.series_id)', it.stored);
    END LOOP;
    PERFORM set_config('jobstats.drops_history', '', true);
    RETURN cardinality(gone);
END
$$;
COMMENT ON FUNCTION jobstats_internal.drop_targets(jsonb) IS
'Internal: does what jobstats_drop_targets() says.';

CREATE FUNCTION jobstats_drop_targets(targets text[], cluster text DEFAULT '') RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF targets IS NULL THEN
        RAISE null_value_not_allowed USING MESSAGE = 'targets must not be NULL', HINT = 'Give names of targets, or patterns as in ''{scratch-*}''.';
    END IF;
    RETURN jobstats_internal.as_owner(text 'drop targets', jsonb_build_object('targets', to_jsonb(targets), 'cluster', cluster)::text)::bigint;
END
$$;
COMMENT ON FUNCTION jobstats_drop_targets(text[], text) IS
'Deletes retired targets with all that is stored of them. What is stored of their servers goes, too. Nothing brings it back: it is for dividing a store, where another copy of it has the same rows and keeps these. targets are names, or patterns with *; cluster NULL is the empty name. What was summed over targets and cannot be divided is deleted with the first target: of a file system, its used space of days; of the store, summaries of jobs that are no longer kept. Maintenance makes the other summaries of jobs again. Returns how many targets there were. Errors: 22004 for no names, 22023 for names that no target has, 55000 for targets that are not retired, where a server has reported other targets too, during a conversion, in a front, and where there is no store, 55P03 where feeds, maintenance or questions are at work: call it again, 25006 on a standby, 42501 for roles other than the owner of the store.';

-- Whether nodes answer, and what becomes of the front while one does not.

CREATE FUNCTION jobstats_internal.ask_node(name text, node integer, with_targets boolean, OUT version text, OUT targets bigint, OUT last_observation timestamptz,
    OUT refreshed timestamptz, OUT known jsonb, OUT problem text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    -- It ends after the block: postgres_fdw also asks nodes to roll back.
    limited CONSTANT boolean := jobstats_internal.limit_wait();
    is_other boolean;
    context text;
BEGIN
    BEGIN
        EXECUTE format('SELECT s.version, s.targets, s.last_observation, s.refreshed, s.node <> %s FROM jobstats.%I s', node, name || ' node_state')
            INTO STRICT version, targets, last_observation, refreshed, is_other;
        version := left(version, 60);
        problem := CASE WHEN is_other THEN 'is another store than the one that was attached'
            WHEN version <> (SELECT e.extversion FROM pg_extension e WHERE e.extname = 'jobstats')
            THEN format('is of version %s: bring node and front to the same version, and then SELECT jobstats_attach(%L)', version, name) END;
        IF with_targets AND problem IS NULL THEN
            EXECUTE format('SELECT jsonb_agg(to_jsonb(t)) FROM jobstats.%I t', name || ' targets') INTO known;
        END IF;
    EXCEPTION WHEN query_canceled OR OTHERS THEN
        GET STACKED DIAGNOSTICS context = PG_EXCEPTION_CONTEXT;
        IF NOT jobstats_internal.is_of_node(SQLSTATE, context) THEN
            RAISE;
        END IF;
        problem := format('does not answer: %s', coalesce(jobstats_internal.end_wait(limited), jobstats_internal.escaped(left(SQLERRM, 200))));
    END;
    PERFORM jobstats_internal.end_wait(limited);
END
$$;
COMMENT ON FUNCTION jobstats_internal.ask_node(text, integer, boolean) IS
'Internal: asks an attached node how far it is, and, if with_targets is true, what targets it has; problem: why it cannot be asked anything, NULL: it can.';

CREATE FUNCTION jobstats_internal.is_of_node(state text, context text) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
-- The first line is the statement that the node was asked. Foreign tables have names that are quoted.
RETURN state <> '57014' OR context ~ '^[^\n]*FROM jobstats\.[a-z]';
COMMENT ON FUNCTION jobstats_internal.is_of_node(text, text) IS
'Internal: whether an error in asking a node is the answer of the node, which ends a statement at its time limit with the code with which this session is canceled.';

CREATE FUNCTION jobstats_internal.nodes_of_front() RETURNS TABLE (
    name text, node integer, accounting boolean, version text, targets bigint, last_observation timestamptz, refreshed timestamptz,
    answered timestamptz, left_out_since timestamptz, problem text
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    answer record;
BEGIN
    FOR name, node, version, targets, last_observation, refreshed, answered, left_out_since, problem IN
        SELECT a.name, a.node, a.version, a.targets, a.last_observation, a.refreshed, a.answered, a.left_out_since, a.problem
        FROM jobstats.attached a ORDER BY a.node
    LOOP
        accounting := coalesce(name = jobstats_internal.accounting_node(), false);
        IF left_out_since IS NOT NULL THEN
            problem := format('%s. Its targets are missing since %s, until CALL jobstats_maintain() finds that it answers.', coalesce(problem, 'answers'), left_out_since);
        ELSE
            answer := jobstats_internal.ask_node(name, node, false);
            problem := answer.problem || format('. Questions can fail until %sSELECT jobstats_detach(%L).',
                CASE WHEN (SELECT s.leave_out_nodes FROM jobstats.settings s) THEN 'CALL jobstats_maintain() leaves it out, or ' END, name);
            IF answer.version IS NOT NULL THEN
                SELECT answer.version, answer.targets, answer.last_observation, answer.refreshed, now()
                INTO version, targets, last_observation, refreshed, answered;
            END IF;
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_internal.nodes_of_front() IS
'Internal: what jobstats_nodes() returns.';

CREATE FUNCTION jobstats_internal.note_node(name text, OUT problem text)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    attached jobstats.attached;
    answer record;
BEGIN
    SELECT a.* INTO STRICT attached FROM jobstats.attached a WHERE a.name = note_node.name;
    answer := jobstats_internal.ask_node(attached.name, attached.node, attached.left_out_since IS NULL);
    problem := answer.problem;
    UPDATE jobstats.attached a SET checked = now(), problem = answer.problem WHERE a.name = note_node.name;
    IF answer.version IS NOT NULL THEN
        UPDATE jobstats.attached a SET answered = now(), version = answer.version, targets = answer.targets,
            last_observation = answer.last_observation, refreshed = answer.refreshed, known_targets = coalesce(answer.known, a.known_targets)
        WHERE a.name = note_node.name;
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.note_node(text) IS
'Internal: notes how far an attached node is, and what targets it has; returns why it cannot be asked anything, NULL: it can.';

CREATE FUNCTION jobstats_internal.node_items(item jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    problem text := jobstats_internal.note_node(item ->> 'node');
    leave_out boolean := problem IS NOT NULL AND (SELECT s.leave_out_nodes FROM jobstats.settings s);
BEGIN
    RETURN jsonb_agg(item || jsonb_build_object('do', 'turn node', 'leave_out', leave_out, 'tries', 5))
    FROM jobstats.attached a
    WHERE a.name = item ->> 'node' AND (a.left_out_since IS NOT NULL) <> leave_out;
END
$$;
COMMENT ON FUNCTION jobstats_internal.node_items(jsonb) IS
'Internal: asks a node of a front how far it is, and gives the item that leaves it out or shows it again; NULL: nothing is to change.';

CREATE FUNCTION jobstats_internal.turn_node(name text, leave_out boolean) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET lock_timeout = '300ms'
AS $$
#variable_conflict use_column
DECLARE
    kinds CONSTANT text[] := '{ranges,union,merged}';
BEGIN
    PERFORM jobstats_internal.lock_front();
    -- All at once: a question that waits for one of them, and holds another, is not kept waiting until it is a deadlock.
    EXECUTE (SELECT 'LOCK TABLE ' || string_agg(c.oid::regclass::text, ', ' ORDER BY c.oid) || ' IN ACCESS EXCLUSIVE MODE'
        FROM pg_class c WHERE c.relnamespace = 'jobstats'::regnamespace AND c.relkind IN ('r', 'p') AND c.relhassubclass);
    UPDATE jobstats.attached a SET left_out_since = CASE WHEN leave_out THEN now() END WHERE a.name = turn_node.name;
    PERFORM jobstats_internal.hide_node(turn_node.name, kinds || text 'accounting');
    PERFORM jobstats_internal.show_node(turn_node.name, kinds);
    PERFORM jobstats_internal.show_accounting();
    RAISE WARNING '%', format(CASE WHEN leave_out THEN 'node "%s" is left out: it %s' ELSE 'node "%s" is shown again' END, turn_node.name,
        (SELECT a.problem FROM jobstats.attached a WHERE a.name = turn_node.name));
END
$$;
COMMENT ON FUNCTION jobstats_internal.turn_node(text, boolean) IS
'Internal: leaves a node out of a front, or shows it again. Of a node that is left out the targets are known.';

CREATE FUNCTION jobstats_internal.health_of_front() RETURNS SETOF jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    attached record;
    context text;
    limited boolean;
    all_answer boolean := true;
BEGIN
    FOR attached IN SELECT n.* FROM jobstats_internal.nodes_of_front() n LOOP
        limited := jobstats_internal.limit_wait();
        IF attached.problem IS NULL THEN
            BEGIN
                RETURN QUERY EXECUTE format('SELECT to_jsonb(h) FROM jobstats.%I h', attached.name || ' health');
            EXCEPTION WHEN query_canceled OR OTHERS THEN
                GET STACKED DIAGNOSTICS context = PG_EXCEPTION_CONTEXT;
                IF NOT jobstats_internal.is_of_node(SQLSTATE, context) THEN
                    RAISE;
                END IF;
                attached.problem := coalesce(jobstats_internal.end_wait(limited), jobstats_internal.escaped(left(SQLERRM, 200)));
            END;
        END IF;
        PERFORM jobstats_internal.end_wait(limited);
        all_answer := all_answer AND (attached.problem IS NULL OR attached.left_out_since IS NOT NULL);
        RETURN NEXT jsonb_build_object(text 'target', attached.name, text 'server', 'jobstats ' || attached.version, text 'status', text 'node',
            text 'last_observation', attached.last_observation, text 'remedy', attached.problem);
    END LOOP;
    limited := jobstats_internal.limit_wait();
    IF all_answer THEN
        RETURN QUERY
        SELECT jsonb_build_object(text 'cluster', t.cluster, text 'target', t.name, text 'status', text 'node', text 'remedy',
            format('Nodes %s have this target. All servers that it can be on have to feed one of them; on the other ones SELECT jobstats_retire_target(%L, %L);', t.nodes, t.name, t.cluster))
        FROM jobstats_internal.targets_of_two() t;
    END IF;
    PERFORM jobstats_internal.end_wait(limited);
    RETURN QUERY
    SELECT jsonb_build_object(text 'status', text 'maintenance', text 'remedy',
        format('Nobody has asked since %s whether all nodes answer. Schedule it for each minute: CALL jobstats_maintain();', date_trunc('second', c.checked)))
    FROM (SELECT min(a.checked) AS checked FROM jobstats.attached a) c
    WHERE c.checked < now() - interval '1 hour';
END
$$;
COMMENT ON FUNCTION jobstats_internal.health_of_front() IS
'Internal: the rows of jobstats.health of the nodes that answer, a row for each node, and one for each target that several nodes have.';

CREATE FUNCTION jobstats_nodes() RETURNS TABLE (
    name text, node integer, accounting boolean, version text, targets bigint, last_observation timestamptz, refreshed timestamptz,
    answered timestamptz, left_out_since timestamptz, problem text
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM jobstats_internal.require_store();
    RETURN QUERY SELECT * FROM jobstats_internal.nodes_of_front();
END
$$;
COMMENT ON FUNCTION jobstats_nodes() IS
'Lists the nodes of a front. Each row has the number of the node, whether names and jobs are shown as it with_targets them, the version of its store, how many targets it has, its last observation and up to when its rollups of ten minutes are refreshed, as of answered: now, or when a node last answered that does not. left_out_since: since when the front answers without it; NULL: it is shown. problem says what is in the way, else NULL. No row: this store is no front. Errors: 55000 where there is no store.';

-- The number of a store among the nodes of a front. What rows of several nodes are known by has numbers in ranges of each node.

-- Rows are known by the same number wherever a column has its name. A table that a later version adds is one of these, by its columns.
CREATE FUNCTION jobstats_internal.numbered_relations() RETURNS TABLE (relation text, stored regclass, columns name[], gives text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT c.relname::text, coalesce(h.hypertable, c.oid::regclass), array_agg(a.attname), max(a.attname) FILTER (WHERE a.attidentity <> '')
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname IN ('target_id', 'job_no', 'series_id', 'event_id', 'entry_id') AND NOT a.attisdropped
LEFT JOIN jobstats_internal.hypertables() h ON h.relation = c.relname
WHERE c.relnamespace = to_regnamespace('jobstats') AND NOT c.relispartition AND (c.relkind IN ('r', 'p') OR h.hypertable IS NOT NULL)
GROUP BY c.relname, c.oid, h.hypertable
$$;
COMMENT ON FUNCTION jobstats_internal.numbered_relations() IS
'Internal: the tables and continuous aggregates that have numbers of targets, jobs, series and events, or keys of entries, with the relation that holds their rows, these columns, and the one that an identity gives its numbers.';

CREATE FUNCTION jobstats_internal.lock_everything() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET lock_timeout = '3s'
AS $$
DECLARE
    relation regclass;
    began timestamptz := clock_timestamp();
BEGIN
    IF to_regclass('jobstats.converting') IS NOT NULL THEN
        RAISE object_not_in_prerequisite_state USING MESSAGE = 'the store is being converted', HINT = 'CALL jobstats_convert(); ends that.';
    END IF;
    LOOP
        BEGIN
            -- Feeds lock this first, so new ones wait here, and none of those at work waits for this session. It waits for nothing else
            -- while it holds a lock: feeds of jobstats_ingest(), readers and maintenance lock tables in any order.
            LOCK TABLE jobstats.feed IN ACCESS EXCLUSIVE MODE;
            FOR relation IN
                SELECT c.oid FROM pg_class c
                WHERE c.relnamespace = 'jobstats'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
                ORDER BY c.relname <> 'locks', c.relname
            LOOP
                EXECUTE format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE NOWAIT', relation);
            END LOOP;
            EXIT;
        EXCEPTION WHEN lock_not_available THEN
            IF clock_timestamp() > began + interval '3 seconds' THEN
                RAISE;
            END IF;
        END;
        PERFORM pg_sleep(0.1);
    END LOOP;
    -- A columnstore changes at most 100,000 rows in a statement, unless it is told otherwise.
    PERFORM set_config(s.name, '0', true) FROM pg_settings s WHERE s.name = 'timescaledb.max_tuples_decompressed_per_dml_transaction';
END
$$;
COMMENT ON FUNCTION jobstats_internal.lock_everything() IS
'Internal: keeps feeds, maintenance and readers out until the transaction ends, so that rows of any time can be changed. Errors: 55P03 where one is at work, 55000 during a conversion.';

CREATE FUNCTION jobstats_internal.first_target(node integer) RETURNS integer
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
RETURN node * 65536 + 1;
COMMENT ON FUNCTION jobstats_internal.first_target(integer) IS 'Internal: the first number of a target of the node of this number.';

CREATE FUNCTION jobstats_internal.first_number(name name, node integer) RETURNS bigint
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
RETURN CASE name WHEN 'target_id' THEN jobstats_internal.first_target(node) ELSE (bigint '1' << 40) * node + 1 END;
COMMENT ON FUNCTION jobstats_internal.first_number(name, integer) IS
'Internal: the first number that an identity of this name gives on the node of this number.';

CREATE FUNCTION jobstats_internal.unpack(hypertable regclass) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    EXECUTE format('SELECT count(%s.decompress_chunk(format(''%%I.%%I'', c.chunk_schema, c.chunk_name)::regclass)) FROM timescaledb_information.chunks c
        WHERE c.is_compressed AND format(''%%I.%%I'', c.hypertable_schema, c.hypertable_name)::regclass = $1', jobstats_internal.timescale_schema()) USING hypertable;
END
$$;
COMMENT ON FUNCTION jobstats_internal.unpack(regclass) IS
'Internal: keeps all chunks of a hypertable in rows; maintenance packs them again.';

CREATE FUNCTION jobstats_internal.renumber(old integer, new integer) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- A copy of a store knows the same entries by the same keys, until it gets a number.
    inverted CONSTANT bigint := ('x' || left(encode(sha256(uuid_send(gen_random_uuid())), 'hex'), 16))::bit(64)::bigint;
    it record;
    next bigint;
BEGIN
    -- A columnstore cannot change the numbers by which it batches rows.
    PERFORM jobstats_internal.unpack(h.hypertable) FROM jobstats_internal.hypertables() h WHERE h.packed_by IS NOT NULL;
    FOR it IN SELECT n.* FROM jobstats_internal.numbered_relations() n LOOP
        IF it.gives IS NOT NULL THEN
            -- One that has given no number since the store got its number goes on behind those of before.
            EXECUTE format('SELECT s.last_value + s.is_called::integer FROM %s s', pg_get_serial_sequence(it.stored::text, it.gives)) INTO next;
            EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET GENERATED BY DEFAULT', it.stored, it.gives);
        END IF;
        EXECUTE format('UPDATE %s SET %s', it.stored, (
            SELECT string_agg(CASE c.name WHEN 'entry_id' THEN format('entry_id = entry_id # %s', inverted)
                ELSE format('%1$I = %1$I + %2$s', c.name, jobstats_internal.first_number(c.name, new - old) - 1) END, ', ')
            FROM unnest(it.columns) AS c (name)));
        IF it.gives IS NOT NULL THEN
            EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET GENERATED ALWAYS SET MAXVALUE %s RESTART WITH %s', it.stored, it.gives,
                jobstats_internal.first_number(it.gives, new + 1) - 1, next + jobstats_internal.first_number(it.gives, new - old) - 1);
        END IF;
    END LOOP;
    UPDATE jobstats.secrets s SET mask = s.mask # inverted;
    -- Who goes through entries in the order of their keys begins again.
    UPDATE jobstats.sweep s SET after = NULL;
    UPDATE jobstats.identification i SET after = NULL;
END
$$;
COMMENT ON FUNCTION jobstats_internal.renumber(integer, integer) IS
'Internal: gives all rows of the store that have numbers in the range of one node those of another, and entries other keys.';

CREATE FUNCTION jobstats_internal.prepare_number(node integer) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF prepare_number.node NOT BETWEEN 0 AND 32766 THEN
        RAISE invalid_parameter_value USING
            MESSAGE = format('node must be from 0 to 32766, not %s', prepare_number.node), HINT = 'Each node of a front has a number of its own.';
    -- Who sets up the store refuses one of another role, and nothing of that may run before.
    ELSIF prepare_number.node IS NOT NULL AND EXISTS (
        SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.oid = to_regclass('jobstats.settings') AND c.relkind = 'r' AND ARRAY[c.relowner, n.nspowner] <@ ARRAY[current_user::regrole::oid])
    THEN
        -- A store of an earlier version has no number.
        IF prepare_number.node <> (SELECT (to_jsonb(s) ->> 'node')::integer FROM jobstats.settings s) THEN
            PERFORM jobstats_internal.lock_everything();
        END IF;
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.prepare_number(integer) IS
'Internal: checks the number that a store is to get, and locks a store that has another one, before setup locks a part of it. Errors: 22023 for a number out of range, 55P03 where feeds, readers or maintenance are at work, 55000 during a conversion.';

CREATE FUNCTION jobstats_internal.number_store(node integer) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    old CONSTANT integer := (SELECT s.node FROM jobstats.settings s);
BEGIN
    IF number_store.node IS NULL OR number_store.node = old THEN
        RETURN;
    END IF;
    PERFORM jobstats_internal.lock_everything();
    PERFORM jobstats_internal.renumber(old, number_store.node);
    UPDATE jobstats.settings s SET node = number_store.node;
END
$$;
COMMENT ON FUNCTION jobstats_internal.number_store(integer) IS
'Internal: gives a store, with all its rows, another number among the nodes of a front; NULL: it keeps that. Errors: 55P03 where feeds or maintenance are at work, 55000 during a conversion.';

-- The relations of a front: its own, which every store has for itself; and those that show the rows of its nodes. A table that a later
-- version adds is one of these, by its columns.
CREATE FUNCTION jobstats_internal.front_relations() RETURNS TABLE (relation text, kind text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT c.relname::text, CASE
    WHEN c.relname = 'rollups' THEN 'derived'
    WHEN c.relname IN ('refresh', 'used', 'job_summaries', 'health', 'maintenance_state', 'node_state') THEN 'merged'
    WHEN c.relname IN ('jobs', 'schedulers', 'users', 'earlier_users', 'groups', 'earlier_groups', 'nodes', 'managers', 'entry_formats', 'identification',
        'finding_rules', 'finding_days') THEN 'accounting'
    WHEN c.relname <> 'sample_series' AND EXISTS (
        SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'target_id' AND NOT a.attisdropped) THEN 'ranges'
    ELSE 'union' END
FROM pg_class c
WHERE c.relnamespace = to_regnamespace('jobstats') AND c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition
    AND c.relname NOT LIKE 'of nodes %'
    AND c.relname NOT IN ('attached', 'feed', 'finding_progress', 'finding_sizes', 'forgotten', 'locks', 'maintenance', 'members', 'nameless', 'parts',
        'secrets', 'settings', 'speakers', 'sweep', 'texts', 'to_identify', 'to_match', 'to_resolve', 'to_summarize', 'watch', 'windows', 'writers')
$$;
COMMENT ON FUNCTION jobstats_internal.front_relations() IS
'Internal: the relations that show rows of nodes in a front. ranges: partitions by ranges of target_id; union: children; accounting: a child on the node with accounting; merged: a view that adds up or compares what nodes have; derived: a view of another of these.';

CREATE FUNCTION jobstats_internal.merged_view(relation text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE relation
-- A rollup is relied on as far as all nodes have it.
WHEN 'rollups' THEN 'SELECT n.level, n.width, coalesce(nullif(min(n.refreshed), ''infinity''), ''epoch'') AS refreshed, max(n.dropped) AS dropped,
    coalesce(nullif(min(n.users_refreshed), ''infinity''), ''epoch'') AS users_refreshed,
    CASE WHEN count(n.retention) = count(*) THEN max(n.retention) END AS retention
    FROM jobstats.rollup_states n GROUP BY n.level, n.width'
WHEN 'refresh' THEN 'SELECT true AS one, max(n.number) AS number, max(n.settled) AS settled, max(n.announced) AS announced, min(n.horizon) AS horizon,
    max(n.dropped) AS dropped, min(n.matched) AS matched, max(n.clock) AS clock
    FROM jobstats."of nodes refresh" n HAVING count(*) > 0'
-- A node has summed the targets that it holds.
WHEN 'used' THEN 'SELECT n.day, n.cluster, n.filesystem, n.kind, n.id, sum(n.kbytes) AS kbytes, sum(n.inodes) AS inodes, sum(n.targets)::bigint AS targets
    FROM jobstats."of nodes used" n GROUP BY n.day, n.kind, n.cluster, n.filesystem, n.id'
WHEN 'job_summaries' THEN 'SELECT min(n.job_no) AS job_no, n.scheduler, n.job, n.label, n.runs, n.submitted, n.started, n.ended, n.run_time, n.uid, n.user_name,
    n.gid, n.group_name, n.account, n."partition", n.qos, n.job_name, n.state, n.exit_code, n.nodes, n.cpus, min(n.first) AS first,
    max(n.last_active) AS last_active, max(n.active_nodes) AS active_nodes, sum(n.targets)::bigint AS targets, sum(n.read_bytes) AS read_bytes,
    sum(n.write_bytes) AS write_bytes, sum(n.read) AS read, sum(n.write) AS write, sum(n.opens) AS opens, sum(n.metadata) AS metadata,
    trim_scale(sum(n.service_time)) AS service_time, sum(n.in_service) AS in_service,
    (array_agg(n.busiest_target ORDER BY n.service_time DESC NULLS LAST, n.busiest_target))[1] AS busiest_target,
    jobstats_internal.added_up(jsonb_agg(n.operations)) AS operations, max(n.made) AS made
    FROM jobstats."of nodes job_summaries" n
    GROUP BY n.scheduler, n.job, n.label, n.runs, n.submitted, n.started, n.ended, n.run_time, n.uid, n.user_name, n.gid, n.group_name, n.account,
        n."partition", n.qos, n.job_name, n.state, n.exit_code, n.nodes, n.cpus'
WHEN 'health' THEN 'SELECT (jsonb_populate_record(NULL::jobstats."of nodes health", h.health)).* FROM jobstats_internal.health_of_front() h (health)'
WHEN 'maintenance_state' THEN 'SELECT min(n.completed) AS completed, nullif(string_agg(n.problem, text ''; ''), '''') AS problem,
    bool_or(n.is_overdue) AS is_overdue
    FROM jobstats."of nodes maintenance_state" n'
-- A front is no node.
WHEN 'node_state' THEN 'SELECT s.node, s.front, s.version, NULL::text AS sorting, NULL::oid AS database, NULL::timestamptz AS started, NULL::bigint AS targets,
    NULL::timestamptz AS last_observation, NULL::timestamptz AS refreshed
    FROM jobstats.settings s'
END
$$;
COMMENT ON FUNCTION jobstats_internal.merged_view(text) IS
'Internal: the query of a view of a front that adds up or compares what nodes have.';

CREATE FUNCTION jobstats_internal.added_up(operations jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT coalesce(jsonb_object_agg(s.operation, s.work), '{}')
FROM (
    SELECT o.key AS operation, jsonb_strip_nulls(jsonb_build_object(text 'calls', sum((o.value ->> 'calls')::numeric),
        text 'seconds', trim_scale(sum((o.value ->> 'seconds')::numeric)))) AS work
    FROM jsonb_array_elements(added_up.operations) a (of_node) CROSS JOIN LATERAL jsonb_each(a.of_node) o
    GROUP BY o.key
) s
$$;
COMMENT ON FUNCTION jobstats_internal.added_up(jsonb) IS
'Internal: the calls and seconds of each operation in an array of job_summaries.operations, added up.';

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
COMMENT ON FUNCTION jobstats_internal.require_role(name) IS 'Internal: fails with 22004 for NULL, with 42704 where there is no such role.';

CREATE FUNCTION jobstats_internal.require_bound(what text, bound text) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF octet_length(bound) > 255 THEN
        RAISE string_data_right_truncation USING
            MESSAGE = format('%s has more than 255 bytes', what), HINT = 'No name that can be fed is longer.';
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.require_bound(text, text) IS
'Internal: fails with 22001 for a name that is too long.';

-- With the rights of the extension's owner, whose functions they are: what another role had granted, DROP OWNED would leave,
-- so that the grantee could not be dropped. It looks at catalogs alone and touches nothing of the store's owner.
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
            AND p.proname IN ('jobstats_parse', 'jobstats_problems', 'jobstats_unpack', 'jobstats_identify')
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
COMMENT ON FUNCTION jobstats_internal.share_functions_on_text() IS
'Internal: lets all who may read raw text, or feed, call the functions that take text.';

CREATE FUNCTION jobstats_internal.hidden_tables() RETURNS TABLE (name text, relation regclass)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT h.name, to_regclass('jobstats.' || h.name) FROM (VALUES ('texts'), ('secrets'), ('forgotten')) AS h (name)
$$;
COMMENT ON FUNCTION jobstats_internal.hidden_tables() IS
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
COMMENT ON FUNCTION jobstats_internal.hide_from_readers(name) IS
'Internal: takes all rights on texts, secrets and who was forgotten from a role, which readers get with those on all tables; NULL: from all but the owner.';

CREATE FUNCTION jobstats_internal.forget_roles() RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
-- They are nobody's rights, unless a new role gets the number of an old one.
DELETE FROM jobstats.writers w WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = w.role);
DELETE FROM jobstats.members m WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = m.role);
DELETE FROM jobstats.speakers s WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = s.role);
DELETE FROM jobstats.nameless n WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = n.role)
$$;
COMMENT ON FUNCTION jobstats_internal.forget_roles() IS
'Internal: deletes what roles may feed and see that have been dropped.';

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
            MESSAGE = format('role %s stays bound to what jobstats.writers says', own.role),
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
COMMENT ON FUNCTION jobstats_grant_writer(name, text, text, text, text[]) IS
'Lets a role feed the store, and do nothing else. The role and its members may feed texts of this cluster, of servers and targets whose names match these patterns with * (NULL: any), and of these sources. Call it again to allow more. A role that is bound stays bound. Errors: 22004 for no role, 42704 for an unknown role, 22001 for a name of over 255 bytes, 0A000 for an unknown source, 22023 for none, 55000 where there is no store.';

CREATE FUNCTION jobstats_internal.require_limited(role name) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM jobstats_internal.require_store();
    PERFORM jobstats_internal.require_role(role);
    IF has_table_privilege(role, 'jobstats.entries', 'SELECT') THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = format('role "%s" may read the whole store', role),
            HINT = 'Take another role, or take its rights on the schema jobstats, and those of the roles that it is in.';
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.require_limited(name) IS
'Internal: fails as require_role() does, and with 55000 for a role that may read the store.';

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
        RAISE null_value_not_allowed USING MESSAGE = 'names must not be NULL', HINT = 'false shows pseudonyms in place of users and jobs.';
    ELSIF NOT names THEN
        PERFORM jobstats_internal.require_limited(jobstats_grant_reader.role);
        INSERT INTO jobstats.nameless (role) VALUES (quote_ident(jobstats_grant_reader.role)::regrole) ON CONFLICT DO NOTHING;
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
COMMENT ON FUNCTION jobstats_grant_reader(name, boolean) IS
'Lets a role read the store, and dump it. Hidden are jobstats.texts, jobstats.secrets and jobstats.forgotten. With names => false, the role reads no table, and functions that count answer it with pseudonyms of users and jobs. Errors: 22004 for no role and for names NULL, 42704 for an unknown role, 55000 where there is no store, and for a role that may read it already and is to see no names.';

CREATE FUNCTION jobstats_grant_own(role name, uid bigint DEFAULT NULL, account text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM jobstats_internal.require_limited(jobstats_grant_own.role);
    IF num_nonnulls(jobstats_grant_own.uid, jobstats_grant_own.account) = 0 THEN
        RAISE null_value_not_allowed USING
            MESSAGE = 'neither uid nor account is given',
            HINT = 'Give the number of the user whose work it is, or the account that the role manages, or both.';
    END IF;
    IF jobstats_grant_own.uid NOT BETWEEN 0 AND 4294967295 THEN
        RAISE invalid_parameter_value USING
            MESSAGE = format('no user has the number %s', jobstats_grant_own.uid), HINT = 'Give a number such as id -u prints.';
    END IF;
    INSERT INTO jobstats.members (role, uid, account)
    SELECT quote_ident(jobstats_grant_own.role)::regrole, m.uid, m.account
    FROM (VALUES (jobstats_grant_own.uid, NULL), (NULL, jobstats_grant_own.account)) AS m (uid, account)
    WHERE num_nonnulls(m.uid, m.account) = 1
    ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION jobstats_grant_own(name, bigint, text) IS
'Lets a role see the work of one user or one account, and no other. The role and its members can call reading functions, which answer for this work alone, and for whole targets; they get no right on tables. Call it again to add users and accounts. Errors: 22004 for no role and where neither uid nor account is given, 42704 for an unknown role, 55000 for a role that may read the store, and where there is no store, 22023 for a uid that none can be.';

CREATE FUNCTION jobstats_grant_speaker(role name) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM jobstats_internal.require_limited(jobstats_grant_speaker.role);
    INSERT INTO jobstats.speakers (role) VALUES (quote_ident(jobstats_grant_speaker.role)::regrole) ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION jobstats_grant_speaker(name) IS
'Lets a front end ask for others. The front end names a role in jobstats.on_behalf_of, and then sees what jobstats.members lets that role see; or it names a user by number, as in uid:1000, and sees the work of that user and of the accounts in jobstats.managers. While the setting names nobody, functions fail with 42501. It has no effect for other roles. Errors: 22004 for no role, 42704 for an unknown role, 55000 for a role that may read the store, and where there is no store.';

-- What the store holds of a user, and how a user is forgotten.

CREATE FUNCTION jobstats_personal_data(uid bigint) RETURNS TABLE (
    relation text, "rows" bigint, first timestamptz, last timestamptz, columns text[], kept interval
)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
WITH number AS MATERIALIZED (
    SELECT jobstats_internal.jobs_of_user(jobstats_personal_data.uid) AS job_no
), mine AS MATERIALIZED (
    SELECT e.entry_id, e.first_seen
    FROM jobstats_internal.entries_of_user(jobstats_personal_data.uid, ARRAY(SELECT n.job_no FROM number n)) AS m (entry_id)
    JOIN jobstats.entries e ON e.entry_id = m.entry_id
), kept AS MATERIALIZED (
    SELECT jobstats_internal.people_kept_for() AS people, jobstats_internal.evidence_kept_for() AS evidence
)
SELECT h.relation, h.n, h.first, h.last, h.columns, h.kept
FROM jobstats.settings s
CROSS JOIN kept k
CROSS JOIN LATERAL (
    SELECT 1 AS number, 'users' AS relation, count(*) AS n, min(u.since) AS first, max(u.seen) AS last,
        ARRAY['uid', 'user_name', 'gid'] AS columns, NULL::interval AS kept
    FROM jobstats.users u WHERE u.uid = jobstats_personal_data.uid
    UNION ALL
    SELECT 2, 'earlier_users', count(*), min(u.since), max(u.until), '{uid,user_name,gid}', k.people
    FROM jobstats.earlier_users u WHERE u.uid = jobstats_personal_data.uid
    UNION ALL
    SELECT 3, 'entries', count(*), min(m.first_seen), NULL, '{name,job,uid,gid,node,executable,pid,claimed}', k.people FROM mine m
    UNION ALL
    SELECT 4, 'rollup_1d', count(*), min(r.first), max(r.last), '{entry_id}', k.people
    FROM mine m JOIN jobstats.rollup_1d r ON r.entry_id = m.entry_id
    UNION ALL
    SELECT 5, 'rollup_1d_users', count(*), min(r.first), max(r.last), '{uid,user_name,gid,group_name}', k.people
    FROM jobstats.rollup_1d_users r WHERE r.uid = jobstats_personal_data.uid
    UNION ALL
    SELECT 6, 'jobs', count(*), min(coalesce(j.submitted, j.started)), max(j.ended),
        '{job,label,uid,user_name,gid,group_name,account,job_name,node_list,extra}', least(k.people, s.jobs_retention)
    FROM jobstats.jobs j WHERE j.ctid = ANY (ARRAY(SELECT jobstats_internal.runs_of_user(jobstats_personal_data.uid)))
    UNION ALL
    SELECT 7, 'job_ids', count(*), min(i.started), max(i.ended), '{job,label,uid,user_name,gid,group_name,account,job_name}',
        least(k.people, s.jobs_retention)
    FROM jobstats.job_ids i JOIN number n ON n.job_no = i.job_no
    UNION ALL
    SELECT 8, 'job_summaries', count(*), min(d.started), max(d.ended), '{job,label,uid,user_name,gid,group_name,account,job_name}', k.people
    FROM jobstats.job_summaries d JOIN number n ON n.job_no = d.job_no
    UNION ALL
    SELECT 9, 'used', count(*), min(u.day)::timestamp AT TIME ZONE 'UTC', max(u.day)::timestamp AT TIME ZONE 'UTC', '{id}', k.people
    FROM jobstats.used u WHERE u.kind = 'user' AND u.id = jobstats_personal_data.uid
    UNION ALL
    SELECT 10, 'used_now', count(*), NULL, NULL, '{id}', NULL FROM jobstats.used_now u WHERE u.kind = 'user' AND u.id = jobstats_personal_data.uid
    UNION ALL
    SELECT 11, 'events', count(*), min(e.began), max(e.until), '{culprits}', least(k.people, s.events_retention)
    FROM jobstats.events e
    WHERE e.culprits -> 'subjects' @> jsonb_build_array(jsonb_build_object('uid', jobstats_personal_data.uid))
    UNION ALL
    SELECT 12, 'members', count(*), NULL, NULL, '{role,uid}', NULL FROM jobstats.members m WHERE m.uid = jobstats_personal_data.uid
    UNION ALL
    SELECT 13, 'managers', count(*), NULL, NULL, '{uid,account}', NULL FROM jobstats.managers m WHERE m.uid = jobstats_personal_data.uid
    UNION ALL
    SELECT 14, 'forgotten', count(*), NULL, max(f.until), '{uid}', NULL FROM jobstats.forgotten f WHERE f.uid = jobstats_personal_data.uid
    UNION ALL
    -- Nobody can look for one user in packed text.
    SELECT 15, 'raw', NULL, now() - s.raw_retention, NULL, '{body}', s.raw_retention
    UNION ALL
    SELECT 16, 'evidence', NULL, now() - k.evidence, NULL, '{body}', k.evidence
    UNION ALL
    SELECT 17, 'texts', NULL, now() - s.raw_retention, NULL, '{body}', s.raw_retention
    UNION ALL
    SELECT 18, 'rejects', NULL, now() - s.rejects_retention, NULL, '{text}', s.rejects_retention
) h
ORDER BY h.number
$$;
COMMENT ON FUNCTION jobstats_personal_data(bigint) IS
'Shows what the store holds of a user, by number. A row for each table by which the user can be found, with the number of rows (NULL: packed text, in which nobody can look), the first and the last time that they are about, the columns that say who it is or what only that user did, and how long they are kept (NULL: until they are deleted or the user is forgotten). The rows themselves: jobstats_runs(), jobstats_summaries() and jobstats_entries(). Errors: 42501 for roles other than the owner of the store, 42P01 where there is no store.';

CREATE FUNCTION jobstats_forget_user(uid bigint) RETURNS TABLE (trace text, "rows" bigint, gone timestamptz)
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
SELECT f.* FROM jsonb_to_recordset(jobstats_internal.as_owner(text 'forget', uid::text)::jsonb) AS f (trace text, "rows" bigint, gone timestamptz)
$$;
COMMENT ON FUNCTION jobstats_forget_user(bigint) IS
'Forgets a user, by number. Names are deleted, and identifiers, jobs, used space and sums by user get pseudonyms, so that sums by target, account and partition stay what they are. What texts bring back while they are kept, maintenance forgets again. It cannot be taken back. Returns what was changed (rows) and when it is gone; for texts, when the last one that may name the user is deleted, infinity if never; for backups and exported files NULL: the site knows. Errors: 22004 for NULL, 22023 for a user of the system and for no number of a user, 25006 on a standby, 42501 for roles other than the owner of the store, 55000 where there is no store.';

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

-- Maintenance by the jobs of TimescaleDB, and jobs of others that would do parts of it.

CREATE PROCEDURE jobstats_maintain_job(job_id integer, config jsonb)
LANGUAGE plpgsql
AS $$
BEGIN
    CALL @extschema@.jobstats_maintain();
END
$$;
COMMENT ON PROCEDURE jobstats_maintain_job(integer, jsonb) IS
'Runs jobstats_maintain() as a job of TimescaleDB. In its Community edition: SELECT add_job(''jobstats_maintain_job'', ''10 minutes''); Errors: as of jobstats_maintain(), 55000, 25001 and 42501.';

CREATE FUNCTION jobstats_internal.foreign_policies() RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found text;
BEGIN
    IF to_regclass('timescaledb_information.jobs') IS NULL OR to_regclass('timescaledb_information.continuous_aggregates') IS NULL THEN
        RETURN NULL;
    END IF;
    EXECUTE $sql$
        SELECT string_agg(format(CASE j.proc_name
                WHEN 'policy_retention' THEN 'job %s of TimescaleDB drops chunks of %s whether they have been summed or not: SELECT remove_retention_policy(''jobstats.%2$s'')'
                ELSE 'job %s of TimescaleDB refreshes %s, which jobstats_maintain() does: SELECT remove_continuous_aggregate_policy(''jobstats.%2$s'')'
            END, j.job_id, t.relation), '; ' ORDER BY j.job_id)
        FROM timescaledb_information.jobs j
        JOIN (
            SELECT h.hypertable_schema, h.hypertable_name, h.hypertable_name AS relation
            FROM timescaledb_information.hypertables h WHERE h.hypertable_schema = 'jobstats'
            UNION ALL
            SELECT a.materialization_hypertable_schema, a.materialization_hypertable_name, a.view_name
            FROM timescaledb_information.continuous_aggregates a WHERE a.view_schema = 'jobstats'
            UNION ALL
            SELECT a.view_schema, a.view_name, a.view_name
            FROM timescaledb_information.continuous_aggregates a WHERE a.view_schema = 'jobstats'
        ) t ON t.hypertable_schema = j.hypertable_schema AND t.hypertable_name = j.hypertable_name
        WHERE j.proc_name IN ('policy_retention', 'policy_refresh_continuous_aggregate')
    $sql$ INTO found;
    RETURN found;
END
$$;
COMMENT ON FUNCTION jobstats_internal.foreign_policies() IS
'Internal: policies of TimescaleDB on tables of the store that do what jobstats_maintain() does, without its care, and how to remove them; NULL: there is none.';

CREATE FUNCTION jobstats_internal.failing_jobs() RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    version text := (SELECT e.extversion FROM pg_extension e WHERE e.extname = 'timescaledb');
    seen boolean;
BEGIN
    IF version IS NULL OR to_regclass('timescaledb_information.job_errors') IS NULL THEN
        RETURN NULL;
    END IF;
    -- A job that succeeded since then shows that another version of either has mended it.
    EXECUTE $sql$
        SELECT coalesce(max(e.finish_time) > (SELECT coalesce(max(s.last_successful_finish), '-infinity') FROM timescaledb_information.job_stats s), false)
        FROM timescaledb_information.job_errors e
        WHERE e.sqlerrcode = '24000' AND e.err_message LIKE 'cannot drop portal %'
    $sql$ INTO seen;
    -- Before the first job has run, and for a role that sees no job, these versions are known to fail.
    IF seen OR current_setting('server_version_num') = '150020' AND version = '2.28.3' THEN
        RETURN format('TimescaleDB %s records every job as failed on PostgreSQL %s, although its work is done',
            version, substring(current_setting('server_version') FROM '^[0-9.]+'));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION jobstats_internal.failing_jobs() IS
'Internal: says that TimescaleDB records jobs as failed that have done their work, by the errors of its jobs or by the versions; NULL: it does not, as far as is known.';

CREATE FUNCTION jobstats_internal.failing_job() RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    problem text := jobstats_internal.failing_jobs();
    job integer;
BEGIN
    IF problem IS NULL THEN
        RETURN NULL;
    END IF;
    EXECUTE $sql$
        SELECT min(j.job_id) FROM timescaledb_information.jobs j WHERE j.proc_name = 'jobstats_maintain_job' AND j.scheduled
    $sql$ INTO job;
    RETURN CASE WHEN job IS NOT NULL THEN
        format('%s: let cron or pg_cron call jobstats_maintain() instead, then SELECT delete_job(%s)', problem, job) END;
END
$$;
COMMENT ON FUNCTION jobstats_internal.failing_job() IS
'Internal: the problem of a job of TimescaleDB that maintains the store where such jobs are recorded as failed, and what to use instead; NULL: there is none.';

CREATE FUNCTION jobstats_alerts(names boolean DEFAULT false) RETURNS jsonb
LANGUAGE c STABLE
AS 'jobstats-0.2.0', 'jobstats_alerts_wrapper';
COMMENT ON FUNCTION jobstats_alerts(boolean) IS
'Returns the events that somebody is told of, for Alertmanager. The array is the body of a POST to /api/v2/alerts: events that last, and those that ended or were withdrawn within the last hour, with endsAt. The labels are alertname, kind, severity, cluster and filesystem, the annotations are summary, description and event_id. With names => true, the description says whose work it was, if the caller may see that. Send it once a minute or so: Alertmanager forgets an alert that is not sent again. Errors: 55000 where there is no store.';

CREATE FUNCTION jobstats_internal.as_like(patterns text[]) RETURNS text[]
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_as_like_wrapper';
COMMENT ON FUNCTION jobstats_internal.as_like(text[]) IS
'Internal: the patterns of LIKE that the same names match as these patterns, in which nothing but * is special.';

CREATE FUNCTION jobstats_internal.attributed(job_no bigint, since timestamptz DEFAULT '-infinity', until timestamptz DEFAULT 'infinity')
RETURNS TABLE (entry_id bigint, since timestamptz, until timestamptz)
LANGUAGE c STABLE STRICT SET search_path = pg_catalog, pg_temp SET jit = off AS 'jobstats-0.2.0', 'jobstats_attributed_spans_wrapper';
COMMENT ON FUNCTION jobstats_internal.attributed(bigint, timestamptz, timestamptz) IS
'Internal: the entries without a job whose work a job is likely to have done, with the spans, buckets of rollup_10m, in which they did it: the entry is of the job''s user, its node is of class compute, and no other job of the user ran there or had just ended. Sums count this work for no job.';

CREATE FUNCTION jobstats_attributed(job text, since timestamptz DEFAULT '-infinity', until timestamptz DEFAULT 'infinity')
RETURNS TABLE (
    scheduler text, label text, cluster text, target text, kind text, entry text, node text, first timestamptz, last timestamptz,
    operation text, total numeric
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    PERFORM jobstats_internal.require_store();
    IF jobstats_attributed.job IS NULL THEN
        RAISE null_value_not_allowed USING MESSAGE = 'job must not be NULL', HINT = 'Name a job, as in ''4711'' or ''4711_3''.';
    END IF;
    RETURN QUERY
    WITH named AS (
        SELECT i.job_no FROM jobstats.job_ids i WHERE i.job = jobstats_attributed.job
        UNION
        SELECT i.job_no
        FROM jobstats.jobs j
        JOIN jobstats.job_ids i ON i.scheduler = j.scheduler AND i.job = j.job AND j.started >= i.started AND j.started <= i.last_started
        WHERE j.label = jobstats_attributed.job
    )
    SELECT i.scheduler, i.label, t.cluster, t.name, t.kind, e.name, e.node, a.since, a.until, r.operation, r.total
    FROM named n
    JOIN jobstats.job_ids i ON i.job_no = n.job_no
    CROSS JOIN LATERAL jobstats_internal.attributed(n.job_no, jobstats_attributed.since, jobstats_attributed.until) a
    CROSS JOIN LATERAL (
        SELECT r.target_id, o.key AS operation, sum(o.value::numeric) AS total
        FROM jobstats.rollup_10m r
        CROSS JOIN LATERAL jsonb_each_text(to_jsonb(r) - '{bucket,entry_id,target_id,first,last,resets}'::text[]) o
        WHERE r.entry_id = a.entry_id AND r.bucket > a.since AND r.bucket <= a.until AND o.key NOT LIKE '%\_usecs' AND o.value <> '0'
        GROUP BY r.target_id, o.key
    ) r
    JOIN jobstats.targets t ON t.target_id = r.target_id
    JOIN jobstats.entries e ON e.entry_id = a.entry_id
    ORDER BY 1, 2, 3, 4, 6, 8, 10;
END
$$;
COMMENT ON FUNCTION jobstats_attributed(text, timestamptz, timestamptz) IS
'Shows work without a job that a job is likely to have done. The rows are of identifiers that name the user of the job and one of its nodes, but no job, in the ten-minute buckets throughout which the job ran there, and no other job of the user did or had just ended. The node must not be of another class than compute. The work counts for no job in all sums: this function shows it in addition. job is a number, or what users type, such as 123_4. Errors: 22004 where job is NULL, 55000 where there is no store.';

CREATE FUNCTION jobstats_audit(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now()
) RETURNS TABLE (
    cluster text, target text, "time" timestamptz, entry text, what text, stored text, computed text
)
LANGUAGE c STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'jobstats-0.2.0', 'jobstats_audit_wrapper';
COMMENT ON FUNCTION jobstats_audit(timestamptz, timestamptz) IS
'Checks the store against its raw text and returns what disagrees. Computes the observations in (since, until] again; if all is correct, there is no row. time is that of the observation; what is raw text, bytes, digest, server, since, a count of jobstats.observations, carried records, entry, increment, whole target, or what belongs to no observation. Observations whose raw text, or the previous one, is gone are left out; a NOTICE says how many. Writes nothing. Errors: 22023 for an empty window, 54000 for over 100,000 disagreements, 55000 where there is no store.';

CREATE FUNCTION jobstats_balance(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operation text DEFAULT 'write_bytes',
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, target text[] DEFAULT NULL
) RETURNS TABLE (
    cluster text, filesystem text, kind text, target text, rate double precision, ratio double precision,
    workload text, uid bigint, user_name text, account text, share double precision, coverage double precision
)
LANGUAGE c STABLE
AS 'jobstats-0.2.0', 'jobstats_balance_wrapper';
COMMENT ON FUNCTION jobstats_balance IS
'Shows which targets are busier than others, and who uses them most. In (since, until], with a row for each target that the filters select, of the kinds that report the operation unless kind names others, also where nothing was done (0) or nothing was observed (NULL). ratio is that to the median of the observed targets of the same cluster, file system and kind, NULL where that is 0. workload, uid, user_name and account name who did most of it there, and share is their part. The targets that are farthest above their median come first. An argument that is NULL counts as left out. Errors: 22023 for an unknown operation or an empty window, 54000 for over a million rows, 55000 where there is no store.';

CREATE FUNCTION jobstats_internal.begin_maintenance() RETURNS void
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp AS 'jobstats-0.2.0', 'jobstats_begin_maintenance_wrapper';
COMMENT ON FUNCTION jobstats_internal.begin_maintenance() IS
'Internal: waits until no other maintenance is at work, as long as lock_timeout allows.';

CREATE FUNCTION jobstats_buckets(density jobstats_density) RETURNS TABLE (
    bucket integer, lower double precision, upper double precision, count bigint
)
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE ROWS 10 AS 'jobstats-0.2.0', 'jobstats_buckets_wrapper';
COMMENT ON FUNCTION jobstats_buckets(jobstats_density) IS
'Returns the buckets of a density that are not empty. They are in ascending order: count values x with lower <= x < upper, where lower is base^bucket.';

CREATE FUNCTION jobstats_internal.build_front() RETURNS void
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET client_min_messages = warning
AS 'jobstats-0.2.0', 'jobstats_build_front_wrapper';
COMMENT ON FUNCTION jobstats_internal.build_front() IS
'Internal: makes the relations of a front, with those of all attached nodes.';

CREATE FUNCTION jobstats_changes(
    since timestamptz DEFAULT now() - interval '1 day', until timestamptz DEFAULT now(),
    operation text DEFAULT 'service_time', "by" text[] DEFAULT '{uid,user_name}',
    baseline_since timestamptz DEFAULT NULL, baseline_until timestamptz DEFAULT NULL, n integer DEFAULT 10,
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, target text[] DEFAULT NULL,
    server text[] DEFAULT NULL, workload text[] DEFAULT NULL, job text[] DEFAULT NULL, node text[] DEFAULT NULL,
    executable text[] DEFAULT NULL, status text[] DEFAULT NULL, uid bigint[] DEFAULT NULL, entry text[] DEFAULT NULL,
    user_name text[] DEFAULT NULL, group_name text[] DEFAULT NULL, account text[] DEFAULT NULL,
    partition text[] DEFAULT NULL, job_name text[] DEFAULT NULL, state text[] DEFAULT NULL, gid bigint[] DEFAULT NULL,
    job_group text[] DEFAULT NULL,
    exclude jsonb DEFAULT NULL
) RETURNS TABLE (
    rank bigint,
    cluster text, filesystem text, kind text, target text, server text, workload text, job text, node text,
    executable text, status text, uid bigint, entry text, user_name text, group_name text, account text,
    partition text, job_name text, state text, gid bigint, job_group text,
    operation text, before numeric, after numeric, change numeric, share double precision, share_of_rise double precision,
    groups bigint, days bigint, coverage double precision
)
LANGUAGE c STABLE
AS 'jobstats-0.2.0', 'jobstats_changes_wrapper';
COMMENT ON FUNCTION jobstats_changes IS
'Shows who made the difference between a window and what was before it. The window is (since, until]. before is the mean of the same window, in local time, on each of the seven days before of which at least 0.8 was observed (days is their number), or the total of (baseline_since, baseline_until], scaled to the length of the window if that is another one; both rounded to calls, bytes or microseconds. after is the total in the window, change = after - before. Returns the n groups that changed most, of equal ones the first by their dimensions as texts, and a row without rank for the rest; groups is the number of groups in the row. All rows add up to the change of the whole. share is the part of that, NULL where it is under 5 % of what all groups changed, rises and falls together; share_of_rise is the part of all rises. coverage is the part of the window that was observed. Times are in seconds. A dimension not named in by is NULL. exclude leaves out what matches any of its lists. An argument that is NULL counts as left out. Errors: 22023 for an unknown operation or dimension, an empty window, one end of a baseline without the other and a negative n, 54000 for over a million groups, 55000 where there is no store.';

CREATE FUNCTION jobstats_compare(
    jobs text[], step interval DEFAULT '10 minutes', operations text[] DEFAULT NULL,
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, target text[] DEFAULT NULL,
    weights jsonb DEFAULT NULL, scheduler text DEFAULT NULL
) RETURNS TABLE (
    since_start interval, seconds double precision, job text, operation text, rate double precision,
    coverage double precision, "time" timestamptz
)
LANGUAGE c STABLE
AS 'jobstats-0.2.0', 'jobstats_compare_wrapper';
COMMENT ON FUNCTION jobstats_compare IS
'Compares jobs over time, each counted from its own start. One row per job, step and operation: since_start is where the step begins, after the start that accounting knows, else after the first work of the job; seconds is its width, time its true beginning. A step in which the job did nothing has the rate 0, and NULL where no target was observed or no server reports times. The last step ends with the job. jobs are numbers, or what users type, such as 123_4, or numbers of arrays; step NULL is one step for the whole job; operations NULL is bytes read and written, metadata and service_time. A NOTICE says so if a job is unknown, or its start, or if jobs of several schedulers have its number: it then has no rows until scheduler chooses one. An argument that is NULL counts as left out. Errors: 22023 for jobs that are NULL or over a hundred, for unknown operations, and for steps that are not positive or of months, 54000 for over a million rows or 100,000 steps, or a million steps of all targets together, 55000 where there is no store.';

CREATE FUNCTION jobstats_count(density jobstats_density) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_count_wrapper';
COMMENT ON FUNCTION jobstats_count(jobstats_density) IS
'Returns how many values of a density were above zero.';

CREATE FUNCTION jobstats_internal.create_successor(relation text) RETURNS text
LANGUAGE c VOLATILE STRICT SET search_path = pg_catalog, pg_temp SET client_min_messages = warning
AS 'jobstats-0.2.0', 'jobstats_create_successor_wrapper';
COMMENT ON FUNCTION jobstats_internal.create_successor(text) IS
'Internal: creates jobstats.new_… for a relation that is to be converted, and returns the table that its rows go into.';

CREATE FUNCTION jobstats_internal.days_at_once(
    level text, by_user boolean, span_from timestamptz, span_to timestamptz
) RETURNS timestamptz
LANGUAGE c STABLE STRICT SET search_path = pg_catalog, pg_temp
AS 'jobstats-0.2.0', 'jobstats_days_at_once_wrapper';
COMMENT ON FUNCTION jobstats_internal.days_at_once(text, boolean, timestamptz, timestamptz) IS
'Internal: the end of the days that a rollup, or its sums by user, compute in one transaction, from the start of a span on: a day, or as many as have few rows together.';

CREATE FUNCTION jobstats_densities(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operation text DEFAULT NULL, "by" text[] DEFAULT '{uid}', base integer DEFAULT 10,
    step interval DEFAULT NULL,
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, target text[] DEFAULT NULL,
    server text[] DEFAULT NULL, workload text[] DEFAULT NULL, job text[] DEFAULT NULL, node text[] DEFAULT NULL,
    executable text[] DEFAULT NULL, status text[] DEFAULT NULL, uid bigint[] DEFAULT NULL, entry text[] DEFAULT NULL,
    user_name text[] DEFAULT NULL, group_name text[] DEFAULT NULL, account text[] DEFAULT NULL,
    partition text[] DEFAULT NULL, job_name text[] DEFAULT NULL, state text[] DEFAULT NULL, gid bigint[] DEFAULT NULL,
    job_group text[] DEFAULT NULL,
    exclude jsonb DEFAULT NULL
) RETURNS TABLE (
    "time" timestamptz, seconds double precision, operation text, bucket integer, lower double precision, upper double precision, count bigint
)
LANGUAGE c STABLE
AS 'jobstats-0.2.0', 'jobstats_densities_wrapper';
COMMENT ON FUNCTION jobstats_densities IS
'Counts how many users, jobs or targets have which rate. Per step, of which time is the start and seconds the width, count is the number of groups (of what by names) whose rate is in the bucket; bucket y holds the rates from lower, base ^ y, up to but not including upper, base ^ (y + 1). Only rates above 0 count; a bucket without any has no row; groups without an identifier count as one. Without operation that is the rate of service_time or, where no target in scope reports times (Lustre before 2.14), of metadata of MDTs and then of bytes of OSTs. To see who they are, use jobstats_top() over the step with min_rate => lower. exclude leaves out what matches any of its lists. An argument that is NULL counts as left out. Errors: 22023 for an unknown operation or dimension, an empty window, a step that is empty or mixes months with days, or a base that is not from 2 to 100, 54000 for over a million rows or 100,000 steps, or a million steps of all targets together, 55000 where there is no store.';

CREATE FUNCTION jobstats_internal.detail_in_brief(detail jsonb, totals jsonb) RETURNS jsonb
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_detail_in_brief_wrapper';
COMMENT ON FUNCTION jobstats_internal.detail_in_brief(jsonb, jsonb) IS
'Internal: a detail of increments without what follows from the totals of its row, as it is stored since 0.2.';

CREATE FUNCTION jobstats_internal.dimensions() RETURNS TABLE (name text, type text)
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_dimensions_wrapper';
COMMENT ON FUNCTION jobstats_internal.dimensions() IS
'Internal: the dimensions of the reading functions with their types, in the order of filters and columns.';

CREATE FUNCTION jobstats_elapsed(counter jobstats_counter) RETURNS interval
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_elapsed_wrapper';
COMMENT ON FUNCTION jobstats_elapsed(jobstats_counter) IS
'Returns the time from the first reading of a counter to the last. It is in days and time of day.';

CREATE FUNCTION jobstats_elapsed(counter jobstats_counter, previous jobstats_counter) RETURNS interval
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_elapsed_after_wrapper';
COMMENT ON FUNCTION jobstats_elapsed(jobstats_counter, jobstats_counter) IS
'Returns the time since the last reading of a previous summary. It ends with the last reading, and is in days and time of day. previous NULL: jobstats_elapsed(counter). Error: 22000 for a previous that does not end before counter begins.';

CREATE FUNCTION jobstats_internal.end_maintenance() RETURNS void
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp AS 'jobstats-0.2.0', 'jobstats_end_maintenance_wrapper';
COMMENT ON FUNCTION jobstats_internal.end_maintenance() IS
'Internal: lets the next maintenance begin.';

CREATE FUNCTION jobstats_internal.end_wait(limited boolean) RETURNS text
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS 'jobstats-0.2.0', 'jobstats_end_wait_wrapper';
COMMENT ON FUNCTION jobstats_internal.end_wait(boolean) IS
'Internal: ends the limit of jobstats_internal.limit_wait() if that has returned true. Returns the message if the limit was reached, else NULL.';

CREATE FUNCTION jobstats_internal.energy_growth(
    name text, maximum double precision, before double precision, after double precision, seconds double precision) RETURNS double precision
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_energy_growth_wrapper';
COMMENT ON FUNCTION jobstats_internal.energy_growth(text, double precision, double precision, double precision, double precision) IS
'Internal: the joules that a counter with this name grew by between two readings, also if it began again at zero after its maximum; NULL if nobody can tell.';

CREATE FUNCTION jobstats_internal.escaped(sentence text) RETURNS text
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_escaped_wrapper';
COMMENT ON FUNCTION jobstats_internal.escaped(text) IS
'Internal: a sentence in which control characters, which names from texts can have, are escaped.';

CREATE FUNCTION jobstats_events(
    since timestamptz DEFAULT now() - interval '7 days', until timestamptz DEFAULT now(),
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, severity text[] DEFAULT NULL,
    withdrawn boolean DEFAULT false
) RETURNS TABLE (
    event_id bigint, kind text, severity text, cluster text, filesystem text, began timestamptz, found timestamptz, until timestamptz,
    ended timestamptz, targets text[], servers text[], value double precision, usual double precision, rate double precision,
    load_times double precision, culprits jsonb, reason text, told timestamptz, verdict text, note text, withdrawn timestamptz,
    updated timestamptz, judged bigint, "precision" double precision
)
LANGUAGE c STABLE
AS 'jobstats-0.2.0', 'jobstats_events_wrapper';
COMMENT ON FUNCTION jobstats_events IS
'Lists what went wrong on file systems, as far as it was found. A row for each event that lasted into (since, until], the newest first. kind is waiting (requests wait for a thread of a server), slow_target, stalled, full, failover or rule (a rule of the site was broken); severity is critical, warning, or info: nobody is told of it, and reason says why. ended is NULL while it lasts; until is the last time that shows it. value and usual are seconds of waiting, seconds per call of a slow target, calls per second of a stalled one, or the used part of a full one; rate is how many times the value passes the floor of its kind. culprits says whose work made the load rise, load_times by how much it rose. told is when it was notified. verdict and note are what jobstats_judge() was told; precision is the part of the events of this kind, of all times, that were judged real or known, judged is how many were judged. An event that later texts showed to be none is left out, or listed with the time when it was withdrawn. cluster, filesystem, kind and severity are patterns with *. A reader of their own work sees no other culprits, one who sees no names sees none. An argument that is NULL counts as left out. Errors: 22023 for an empty window, 54000 for over a million rows, 55000 where there is no store.';

CREATE FUNCTION jobstats_explain(event_id bigint) RETURNS TABLE (line integer, topic text, "text" text, details jsonb)
LANGUAGE c STABLE
AS 'jobstats-0.2.0', 'jobstats_explain_wrapper';
COMMENT ON FUNCTION jobstats_explain(bigint) IS
'Explains an event in sentences, and says what to do next. event_id is that of jobstats_events(). The topics are what (what was measured, and what is usual), load (how busy the servers were), who (whose work made the load rise), how (with which operation), peers (how others were at that time), probe (how long a probe of the shipper took), excluded (what else was not the reason, or what else happened), told (why nobody was told), evidence (how much raw text of that time is kept, and until when), and next: commands to look further, or to slow a job down and to stop that. jobstats prints commands and never runs one. details has the numbers of a line. A reader of their own work sees no other users, one who sees no names sees none. Errors: 22004 for no number, 22023 for one that no event has, 55000 where there is no store.';

CREATE FUNCTION jobstats_internal.feeding() RETURNS TABLE (pid integer, role text, since timestamptz, idle_since timestamptz)
LANGUAGE c STABLE SET search_path = pg_catalog, pg_temp
AS 'jobstats-0.2.0', 'jobstats_feeding_wrapper';
COMMENT ON FUNCTION jobstats_internal.feeding() IS
'Internal: the sessions that hold locks of a feed, the oldest transaction first, for who may read health or feed; idle_since NULL: at work.';

CREATE FUNCTION jobstats_internal.finding_values(since timestamptz, until timestamptz, entries bigint[])
RETURNS TABLE (finding text, "values" double precision[])
LANGUAGE c STABLE SET search_path = pg_catalog, pg_temp AS 'jobstats-0.2.0', 'jobstats_finding_values_wrapper';
COMMENT ON FUNCTION jobstats_internal.finding_values(timestamptz, timestamptz, bigint[]) IS
'Internal: the values by each rule of the jobs of these entries that did enough in (since, until] to be judged. Sizes of reads and writes are those in jobstats.finding_sizes.';

CREATE FUNCTION jobstats_findings(
    since timestamptz DEFAULT now() - interval '1 day', until timestamptz DEFAULT now(), "by" text[] DEFAULT '{job}',
    levels text[] DEFAULT '{bad,fair}',
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, target text[] DEFAULT NULL,
    server text[] DEFAULT NULL, workload text[] DEFAULT NULL, job text[] DEFAULT NULL, node text[] DEFAULT NULL,
    executable text[] DEFAULT NULL, status text[] DEFAULT NULL, uid bigint[] DEFAULT NULL, entry text[] DEFAULT NULL,
    user_name text[] DEFAULT NULL, group_name text[] DEFAULT NULL, account text[] DEFAULT NULL,
    partition text[] DEFAULT NULL, job_name text[] DEFAULT NULL, state text[] DEFAULT NULL, gid bigint[] DEFAULT NULL,
    job_group text[] DEFAULT NULL,
    exclude jsonb DEFAULT NULL
) RETURNS TABLE (
    cluster text, filesystem text, kind text, target text, server text, workload text, job text, node text,
    executable text, status text, uid bigint, entry text, user_name text, group_name text, account text,
    partition text, job_name text, state text, gid bigint, job_group text,
    finding text, level text, value double precision, threshold double precision, estimated boolean, says text,
    service_time double precision, share double precision, advice text, url text
)
LANGUAGE c STABLE
AS 'jobstats-0.2.0', 'jobstats_findings_wrapper';
COMMENT ON FUNCTION jobstats_findings IS
'Says in what way jobs or users burden servers, and what to change. Judges each group in (since, until] by the rules in jobstats.finding_rules, and returns a row for each finding of one of these levels (good, fair, bad), the worst first. A value is bad if it is above the rule''s floor and above what 99 of a hundred jobs of the last 30 days had, fair if it is above the lower floor and above what 95 had; while under a hundred jobs are known, nothing is bad. What a rule is about must have taken 5 % of the time that servers spent on the group, which is share, and service_time in seconds (share is of calls, where servers report no times). Groups of less than ten minutes, 1,000 calls or, where servers report times, 60 seconds of servers are not judged. By or of some targets, kinds or servers, the rules opens, syncs, small_files, one_target and metadata say nothing. What has no job is one group. estimated: made of means, as Lustre before 2.16 prints no sizes. It says what servers saw, and not what a program meant. exclude leaves out what matches any of its lists. An argument that is NULL counts as left out. Errors: 22023 for an unknown dimension or level or an empty window, 54000 for over a million groups, 55000 where there is no store.';

CREATE FUNCTION jobstats_first(counter jobstats_counter) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_first_wrapper';
COMMENT ON FUNCTION jobstats_first(jobstats_counter) IS 'Returns the value of the first reading.';

CREATE FUNCTION jobstats_fold(name text) RETURNS text
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_fold_wrapper';
COMMENT ON FUNCTION jobstats_fold(text) IS
'Folds the numbers in the name of a job: task_17 becomes task_#. So the tasks of a workflow engine, each of which is a job with a number in its name, can be grouped. A number is a run of the digits 0 to 9, whatever stands beside it; all other characters stay. NULL for NULL. Errors: 54000 for a name of over 1 MB.';

CREATE FUNCTION jobstats_format(value double precision, operation text, quantity text DEFAULT 'rate') RETURNS text
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_format_wrapper';
COMMENT ON FUNCTION jobstats_format(double precision, text, text) IS
'Prints a number of an answer with its unit, as in 104 MB/s. quantity is the column that the number is from: rate, total or per_call. Three digits, decimal prefixes as storage is sold with (kB is 1000 bytes), times in the unit that suits them (23 ms, 90 min). A rate of service_time is the number of requests in service and has no unit. NULL where an argument is NULL. Errors: 22023 for an unknown operation or quantity.';

CREATE FUNCTION jobstats_internal.growing_tables() RETURNS TABLE (relation text, kept text)
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_growing_tables_wrapper';
COMMENT ON FUNCTION jobstats_internal.growing_tables() IS
'Internal: the tables of the store that grow with time, and the setting that says how long their rows are kept.';

CREATE FUNCTION jobstats_identify(entry text, formats text[] DEFAULT NULL) RETURNS TABLE (
    job text, uid bigint, gid bigint, node text, executable text, pid bigint, format text, status text
)
LANGUAGE c STABLE AS 'jobstats-0.2.0', 'jobstats_identify_wrapper';
COMMENT ON FUNCTION jobstats_identify(text, text[]) IS
'Tells the job, user and node of an entry identifier. The first format (jobid_name as on the clients) that matches counts; formats NULL stands for those in jobstats.entry_formats, or %j:%u:%H and %e.%u where there is no store. Of these, the formats of the clusters count that have sent the entry, or of all if it is not stored; only what all of them read alike is known. An identifier that none matches is the number of a job alone, or the beginning of an identifier, if it can be only one. node ends at its first dot. status is ok, missing_job, truncated, partial or malformed. entry NULL gives no row. Errors: 22023 for an invalid format or over a hundred, 22001 for an entry of over 255 bytes, which no server prints.';

CREATE FUNCTION jobstats_ids_remedy(names text[]) RETURNS text
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_ids_remedy_wrapper';
COMMENT ON FUNCTION jobstats_ids_remedy(text[]) IS
'Internal: advice on identifiers that match no format: the format that they look like, and the statement that adds it. Views in dumps of version 0.1.0 call it by this name.';

CREATE FUNCTION jobstats_increase(counter jobstats_counter) RETURNS numeric
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_increase_wrapper';
COMMENT ON FUNCTION jobstats_increase(jobstats_counter) IS
'Returns by how much a counter grew, exactly, resets included.';

CREATE FUNCTION jobstats_increase(counter jobstats_counter, previous jobstats_counter) RETURNS numeric
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_increase_after_wrapper';
COMMENT ON FUNCTION jobstats_increase(jobstats_counter, jobstats_counter) IS
'Returns by how much a counter grew since a previous summary. With lag(counter) OVER (PARTITION BY series ORDER BY bucket) as previous, the increases of all buckets add up to that of the whole, also where the counter grew between two buckets. previous NULL: jobstats_increase(counter). Error: 22000 for a previous that does not end before counter begins.';

CREATE FUNCTION jobstats_ingest(
    cluster text, server text, read_at timestamptz, body text DEFAULT NULL, body_zstd bytea DEFAULT NULL,
    duration interval DEFAULT NULL, shipper text DEFAULT NULL, source text DEFAULT 'lctl', covers tstzrange DEFAULT NULL
) RETURNS TABLE (
    target text, action text, entries integer, active integer, added integer, resets integer, removed integer,
    carried integer, unknown integer, problems integer, increments integer
)
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'jobstats-0.2.0', 'jobstats_ingest_wrapper';
COMMENT ON FUNCTION jobstats_ingest(text, text, timestamptz, text, bytea, interval, text, text, tstzrange) IS
'Feeds a text as INSERT INTO jobstats.feed does, and tells the outcome. One row per target of the text: action is baseline (first observation), stored, placed (late text), repeated (known already), interval (only job_cleanup_interval) or rejected (see jobstats.rejects); a WARNING counts those that are placed or rejected. source NULL is lctl; the text of another source gives one row without a target, whose action is users, groups, jobs or samples. covers is the span of time in which a text of jobs is complete. read_at NULL is now. Errors: 55000 no store, 22001 cluster or server of over 255 bytes, 25001 isolation level above READ COMMITTED, 54000 text too large, 22P03 body_zstd is not zstd, 22023 neither or both bodies, no server, or covers without a start or an end, 0A000 an unknown source, 53200 out of memory, 40001 feed again.';

CREATE FUNCTION jobstats_internal.ingest(
    cluster text, server text, read_at timestamptz, body text, body_zstd bytea, duration interval, shipper text,
    source text, covers tstzrange
) RETURNS void
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'jobstats-0.2.0', 'jobstats_ingest_own_wrapper';
COMMENT ON FUNCTION jobstats_internal.ingest(text, text, timestamptz, text, bytea, interval, text, text, tstzrange) IS
'Internal: what jobstats_ingest does, for anybody who may feed such a text, with the rights of the store''s owner. Errors: also 42501 where the caller may not feed it.';

CREATE FUNCTION jobstats_internal.watch() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'jobstats-0.2.0', 'jobstats_internal_watch_wrapper';
COMMENT ON FUNCTION jobstats_internal.watch() IS
'Internal: judges what was read since the last call, at most a day, and keeps what it finds in jobstats.events; returns the number of events that are new or have changed. NULL: another call is judging.';

CREATE FUNCTION jobstats_internal.is_reidentifying() RETURNS boolean
LANGUAGE c STABLE SET search_path = pg_catalog, pg_temp AS 'jobstats-0.2.0', 'jobstats_is_reidentifying_wrapper';
COMMENT ON FUNCTION jobstats_internal.is_reidentifying() IS
'Internal: whether maintenance has begun to identify entries again and has not come to the end.';

CREATE FUNCTION jobstats_job(
    job text, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL, step interval DEFAULT NULL,
    "by" text[] DEFAULT '{target}', scheduler text DEFAULT NULL
) RETURNS TABLE (
    "time" timestamptz, seconds double precision,
    cluster text, filesystem text, kind text, target text, node text,
    operation text, total numeric, calls numeric, per_call double precision, min numeric, max numeric,
    stddev double precision, rate double precision, min_rate double precision, median_rate double precision,
    mean_rate double precision, max_rate double precision, first timestamptz, last_active timestamptz, nodes bigint,
    coverage double precision, scheduler text, label text, user_name text, account text, partition text, job_name text,
    state text, exit_code text, submitted timestamptz, started timestamptz, ended timestamptz, run_time interval,
    cpus bigint, in_service double precision
)
LANGUAGE c STABLE
AS 'jobstats-0.2.0', 'jobstats_job_wrapper';
COMMENT ON FUNCTION jobstats_job(text, timestamptz, timestamptz, interval, text[], text) IS
'Shows what one job did as a whole, then by target, node or step. The job is named by its number or as users type it, such as 123_4; the number of an array stands for all of its elements. If accounting knows it, the first rows are its runs, with the operation run; then come those of the whole job, with target and node NULL, and those of each group, by default each target. For each operation, and for metadata and service_time, a row says how much, in how many calls, from when to when and on how many nodes. per_call, min, max and stddev are bytes, or seconds of the server, per call; min_rate to max_rate are per second in ten-minute buckets. scheduler to cpus are what accounting says, of a run or of the job: NULL if its runs differ, state and exit_code of the last one. in_service is the mean number of requests in service per node: service_time / (run time x nodes). energy and energy_per_gb are the joules of a job that had its metered nodes for itself, and those per GB that it read and wrote; rate is watts. The last rows, with operations that begin with attributed_, are work without a job that this job is likely to have done, and with claimed_, that of other users who name this job: both are in no sum. since NULL is the beginning of what is stored of the job, until NULL its end; rate is per second of that window, or of (since, until], that the targets were observed. A NOTICE says so if the job is unknown. If jobs of several schedulers have the number, only their runs are listed, until scheduler chooses one. Errors: 22023 where job is NULL, for an unknown dimension or an empty window or step, 54000 for over a million rows or 100,000 steps, 55000 where there is no store.';

CREATE FUNCTION jobstats_job(
    job bigint, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL, step interval DEFAULT NULL,
    "by" text[] DEFAULT '{target}', scheduler text DEFAULT NULL
) RETURNS TABLE (
    "time" timestamptz, seconds double precision,
    cluster text, filesystem text, kind text, target text, node text,
    operation text, total numeric, calls numeric, per_call double precision, min numeric, max numeric,
    stddev double precision, rate double precision, min_rate double precision, median_rate double precision,
    mean_rate double precision, max_rate double precision, first timestamptz, last_active timestamptz, nodes bigint,
    coverage double precision, scheduler text, label text, user_name text, account text, partition text, job_name text,
    state text, exit_code text, submitted timestamptz, started timestamptz, ended timestamptz, run_time interval,
    cpus bigint, in_service double precision
)
LANGUAGE c STABLE
AS 'jobstats-0.2.0', 'jobstats_job_of_number_wrapper';
COMMENT ON FUNCTION jobstats_job(bigint, timestamptz, timestamptz, interval, text[], text) IS
'Shows what the job of this number did. jobstats_job(4711) is jobstats_job(''4711''). Errors: 22023 where job is NULL, for an unknown dimension or an empty window or step, 54000 for over a million rows or 100,000 steps, 55000 where there is no store.';

CREATE FUNCTION jobstats_internal.known_sources(sources text[]) RETURNS text[]
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_known_sources_wrapper';
COMMENT ON FUNCTION jobstats_internal.known_sources(text[]) IS
'Internal: the sources of these names, each once and in a fixed order; NULL is lctl. Errors: 0A000 for a name that no source has, 22023 for no name.';

CREATE FUNCTION jobstats_last(counter jobstats_counter) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_last_wrapper';
COMMENT ON FUNCTION jobstats_last(jobstats_counter) IS 'Returns the value of the last reading.';

CREATE FUNCTION jobstats_internal.limit_wait() RETURNS boolean
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS 'jobstats-0.2.0', 'jobstats_limit_wait_wrapper';
COMMENT ON FUNCTION jobstats_internal.limit_wait() IS
'Internal: limits how long this session waits for nodes from now on; false: something around has limited it.';

CREATE FUNCTION jobstats_internal.match_some() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'jobstats-0.2.0', 'jobstats_match_some_wrapper';
COMMENT ON FUNCTION jobstats_internal.match_some() IS
'Internal: matches the entries of some numbers of jobstats.to_match with jobs, and returns how many numbers these were; 0: none is left.';

CREATE FUNCTION jobstats_metrics() RETURNS text
LANGUAGE c STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'jobstats-0.2.0', 'jobstats_metrics_wrapper';
COMMENT ON FUNCTION jobstats_metrics() IS
'Prints health and rates of the targets for Prometheus. The text is OpenMetrics, without jobs. For each target it has the health as in jobstats.health, counts of observations and problems, and the rates of the last observation as in jobstats_now(), and the space and state that servers said within the last hour; for services of servers, how long requests waited; the number of events that last; for the store, the time of the last maintenance and the lag of the rollups. While a node of a front does not answer and is not left out, it has how the nodes are, and nothing else. There are no rates for a target that is silent or whose last observation covers more than an hour. Retired targets are left out; what jobstats.expected lists and has never reported has a status alone, with its server. Errors: 55000 where there is no store.';

CREATE FUNCTION jobstats_internal.nearest(name text, known text[]) RETURNS text[]
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_nearest_wrapper';
COMMENT ON FUNCTION jobstats_internal.nearest(text, text[]) IS
'Internal: those of the known names that are most like a name, the nearest first.';

CREATE FUNCTION jobstats_now(target text[] DEFAULT NULL, n integer DEFAULT 10, at timestamptz DEFAULT NULL) RETURNS TABLE (
    cluster text, target text, kind text, server text, "time" timestamptz, age interval, seconds double precision,
    rank bigint, workload text, uid bigint, user_name text, account text, job_name text, operation text, rate double precision,
    service_time double precision, share double precision
)
LANGUAGE c STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'jobstats-0.2.0', 'jobstats_now_wrapper';
COMMENT ON FUNCTION jobstats_now(text[], integer, timestamptz) IS
'Shows who keeps each target busy right now, or kept it busy at a time. Per target whose name matches one of the patterns (NULL: all that were observed within a day) the n workloads and users with the largest share of its last observation, of its service time or, where servers report no times, of its calls. With at, the observation is the last one up to that time, as far as increments are kept. time is that of the observation, age how long before now, or before at, that was, seconds what it covers: where that is more than an hour, its last hour counts; operation is the one that took most of it (where no times are reported: with most calls), rate its calls per second, service_time the mean number of requests in service. n NULL is 10. Errors: 22023 for a negative n, 55000 where there is no store.';

CREATE FUNCTION jobstats_operations() RETURNS TABLE (
    operation text, kind text, unit text, mdt boolean, ost boolean, metadata boolean, service_time boolean,
    doubles text, system_calls text, meaning text, since text
)
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_operations_wrapper';
COMMENT ON FUNCTION jobstats_operations() IS
'Lists the operations that Lustre counts. kind is requests or bytes, unit that of the column of the same name; mdt and ost say which targets report it, metadata and service_time whether it is part of that derived operation, doubles names the operation in which its calls are also counted, since the first Lustre release that reports it.';

CREATE FUNCTION jobstats_parse(body text) RETURNS TABLE (
    target text, entry text, snapshot_time numeric, start_time numeric, clock text, operation text, samples numeric,
    unit text, min numeric, max numeric, sum numeric, sumsq numeric, hist jsonb, line integer
)
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_parse_wrapper';
COMMENT ON FUNCTION jobstats_parse(text) IS
'Splits a text of job_stats into rows, one per operation. Each line is as printed; only the lines that jobstats_problems() shows are left out. target is NULL where the text has no name, entry is empty where the identifier is blank. Times are in seconds on the clock epoch or boot (Lustre 2.15.0 and 2.15.1); what a line does not have is NULL. Body NULL gives no row. Many rows go through a temporary file. Error: 53200 out of memory.';

CREATE FUNCTION jobstats_problems(body text) RETURNS TABLE (
    line integer, target text, entry text, reason text, text text
)
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_problems_wrapper';
COMMENT ON FUNCTION jobstats_problems(text) IS
'Lists the lines of a text of job_stats that cannot be used. Columns: line (from 1), target and entry where known, reason and the line itself, of a long one the first 64 kB. Other parameters of lctl, its error messages and unknown lines of the form key: value inside a record are not listed. Body NULL gives no row. Many rows go through a temporary file. Error: 53200 out of memory.';

CREATE FUNCTION jobstats_internal.pseudonym(secret bytea, text text) RETURNS text
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS 'jobstats-0.2.0', 'jobstats_pseudonym_wrapper';
COMMENT ON FUNCTION jobstats_internal.pseudonym(bytea, text) IS
'Internal: the text that stands for another one under a secret of 16 bytes. Errors: 22023 for a secret of another length.';

CREATE FUNCTION jobstats_internal.pseudonym_of_user(secret bytea, text text) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS 'jobstats-0.2.0', 'jobstats_pseudonym_of_user_wrapper';
COMMENT ON FUNCTION jobstats_internal.pseudonym_of_user(bytea, text) IS
'Internal: the number, 2^32 or more, that stands for a user of a number or a name under a secret of 16 bytes. Errors: 22023 for a secret of another length.';

CREATE FUNCTION jobstats_internal.queue_changed_summaries() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp AS 'jobstats-0.2.0', 'jobstats_queue_changed_summaries_wrapper';
COMMENT ON FUNCTION jobstats_internal.queue_changed_summaries() IS
'Internal: puts the jobs into jobstats.to_summarize whose usage late text has changed, and returns how many there are.';

CREATE FUNCTION jobstats_internal.queue_unmatched() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'jobstats-0.2.0', 'jobstats_queue_unmatched_wrapper';
COMMENT ON FUNCTION jobstats_internal.queue_unmatched() IS
'Internal: puts into jobstats.to_match the numbers of entries that work on days of which nothing is known, and returns how many there are.';

CREATE FUNCTION jobstats_queues(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    server text[] DEFAULT NULL, service text[] DEFAULT NULL, step interval DEFAULT NULL, cluster text[] DEFAULT NULL
) RETURNS TABLE (
    "time" timestamptz, seconds double precision, cluster text, server text, service text, requests numeric,
    wait double precision, depth double precision, active double precision, waiting double precision, coverage double precision
)
LANGUAGE c STABLE
AS 'jobstats-0.2.0', 'jobstats_queues_wrapper';
COMMENT ON FUNCTION jobstats_queues IS
'Shows how long requests waited for a thread of a server. In (since, until], or in steps of it, with a row for each service of a server that was read then. requests is their number, wait the seconds that one waited on the average before a thread took it; times in job_stats begin only then. depth and active are the numbers of requests in the queue and at work that a request found when it came, waiting is the mean number that waited at a time. wait, depth and active are NULL where there was no request. coverage is the part of the time in which the service was read, to which requests belong. Services are server-wide, not of a target. server, service and cluster are patterns with *. Parts of rows at edges are as jobstats_share() has them; where increments are not kept any more, parts of hours. An argument that is NULL counts as left out. Errors: 22023 for an empty window, a step that is not positive, 54000 for over a million rows or 100,000 steps, 55000 where there is no store.';

CREATE FUNCTION jobstats_rate(counter jobstats_counter) RETURNS double precision
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_rate_wrapper';
COMMENT ON FUNCTION jobstats_rate(jobstats_counter) IS
'Returns by how much a counter grew per second. It is the increase divided by the time from its first reading to its last. NULL for a single reading.';

CREATE FUNCTION jobstats_rate(counter jobstats_counter, previous jobstats_counter) RETURNS double precision
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_rate_after_wrapper';
COMMENT ON FUNCTION jobstats_rate(jobstats_counter, jobstats_counter) IS
'Returns by how much a counter grew per second since a previous summary. It is the increase divided by the time from the last reading of previous to the last reading of counter. previous NULL: jobstats_rate(counter). Error: 22000 for a previous that does not end before counter begins.';

CREATE FUNCTION jobstats_rates(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operations text[] DEFAULT NULL, "by" text[] DEFAULT '{target}', step interval DEFAULT NULL,
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, target text[] DEFAULT NULL,
    server text[] DEFAULT NULL, workload text[] DEFAULT NULL, job text[] DEFAULT NULL, node text[] DEFAULT NULL,
    executable text[] DEFAULT NULL, status text[] DEFAULT NULL, uid bigint[] DEFAULT NULL, entry text[] DEFAULT NULL,
    user_name text[] DEFAULT NULL, group_name text[] DEFAULT NULL, account text[] DEFAULT NULL,
    partition text[] DEFAULT NULL, job_name text[] DEFAULT NULL, state text[] DEFAULT NULL, gid bigint[] DEFAULT NULL,
    job_group text[] DEFAULT NULL,
    weights jsonb DEFAULT NULL, exclude jsonb DEFAULT NULL
) RETURNS TABLE (
    "time" timestamptz, seconds double precision,
    cluster text, filesystem text, kind text, target text, server text, workload text, job text, node text,
    executable text, status text, uid bigint, entry text, user_name text, group_name text, account text,
    partition text, job_name text, state text, gid bigint, job_group text,
    operation text, rate double precision, coverage double precision
)
LANGUAGE c STABLE
AS 'jobstats-0.2.0', 'jobstats_rates_wrapper';
COMMENT ON FUNCTION jobstats_rates IS
'Shows usage per second over time, by user, job or target. One row per step and group in (since, until], or for the window where step is NULL. Steps lie on multiples of step on the clocks of the session; time is where one really begins, seconds its width. A rate is the sum over targets of total / seconds that the target was observed; coverage is the observed part of all time, 0 to 1. The rate of service_time is called requests in service. A dimension not named in by is NULL. Where by names only cluster, filesystem, kind, target or server, targets that did nothing give 0, and NULL if they were not observed. exclude leaves out what matches any of its lists. An argument that is NULL counts as left out. Errors: 22023 for unknown operations and dimensions and for windows and steps that are empty, for steps that mix months with days, 54000 for over a million rows or 100,000 steps, or a million steps of all targets together, 55000 where there is no store.';

CREATE FUNCTION jobstats_reidentify() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS 'jobstats-0.2.0', 'jobstats_reidentify_wrapper';
COMMENT ON FUNCTION jobstats_reidentify() IS
'Identifies all stored entries again, and returns how many changed. After a change of jobstats.entry_formats, jobstats_maintain() does the same in portions; this function does it at once. If most entries match no format, a NOTICE names the likely format. Errors: 22023 for an invalid format, 25006 on a standby, 42501 for roles other than the owner of the store, 55000 where there is no store.';

CREATE FUNCTION jobstats_internal.reidentify_some() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp AS 'jobstats-0.2.0', 'jobstats_reidentify_some_wrapper';
COMMENT ON FUNCTION jobstats_internal.reidentify_some() IS
'Internal: takes the next step of identifying entries again, and returns how many changed; NULL: nothing is left to do.';

CREATE FUNCTION jobstats_rename_target(old text, new text, cluster text DEFAULT '') RETURNS void
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS 'jobstats-0.2.0', 'jobstats_rename_target_wrapper';
COMMENT ON FUNCTION jobstats_rename_target(text, text, text) IS
'Gives a target another name, with all that is stored of it. Its file system, kind and index follow from the new name. Call it before the first text with the new name comes. Text with the old name goes to the renamed target for settings.raw_retention; later such text makes a new target. cluster NULL is the empty name. Errors: 22004 for no name, 22023 for a target that does not exist and for an empty name, 22001 for a name of over 255 bytes, 23505 where a target has the new name, 25006 on a standby, 42501 for roles other than the owner of the store, 55000 where there is no store.';

CREATE FUNCTION jobstats_reprocess(since timestamptz, until timestamptz, target text[] DEFAULT NULL) RETURNS TABLE (
    cluster text, target text, computed bigint, skipped bigint, changed bigint, first timestamptz, last timestamptz,
    deleted bigint, inserted bigint
)
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'jobstats-0.2.0', 'jobstats_reprocess_wrapper';
COMMENT ON FUNCTION jobstats_reprocess(timestamptz, timestamptz, text[]) IS
'Computes the stored increments again from the raw text. Takes the observations, and the readings of the own counters of targets, in (since, until] of all targets whose names match one of the patterns (NULL: of all), by the rules of this version, and replaces what differs in the store; then those that follow, until nothing changes any more. One row per target: observations and readings computed, those skipped because raw text is gone (they stay as they are), those that changed, the first and the last of them, and the increments deleted and inserted for these. A second run changes nothing. Feeds of a target wait from the moment it is reached until the transaction ends. NULL for since is ten minutes ago, for until now. Errors: 22023 for an empty window, 25001 isolation level above READ COMMITTED, 25006 on a standby, 42501 for roles other than the owner of the store, 55000 where there is no store.';

CREATE FUNCTION jobstats_internal.require_own_rows() RETURNS void
LANGUAGE c STABLE AS 'jobstats-0.2.0', 'jobstats_require_own_rows_wrapper';
COMMENT ON FUNCTION jobstats_internal.require_own_rows() IS
'Internal: fails with 55000 where the store is missing, and in a front, which has no rows of its own.';

CREATE FUNCTION jobstats_internal.require_store() RETURNS void
LANGUAGE c STABLE AS 'jobstats-0.2.0', 'jobstats_require_store_wrapper';
COMMENT ON FUNCTION jobstats_internal.require_store() IS
'Internal: fails with 55000 where the store is missing.';

CREATE FUNCTION jobstats_internal.require_top_level(routine text) RETURNS void
LANGUAGE c VOLATILE STRICT AS 'jobstats-0.2.0', 'jobstats_require_top_level_wrapper';
COMMENT ON FUNCTION jobstats_internal.require_top_level(text) IS
'Internal: fails with 25001 inside of a transaction block, and with 25006 on a standby.';

CREATE FUNCTION jobstats_reread(
    since timestamptz, until timestamptz, source text DEFAULT NULL, cluster text DEFAULT NULL
) RETURNS TABLE (
    cluster text, server text, source text, "time" timestamptz, records integer, problems integer, changed integer, problem text
)
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'jobstats-0.2.0', 'jobstats_reread_wrapper';
COMMENT ON FUNCTION jobstats_reread(timestamptz, timestamptz, text, text) IS
'Reads kept texts of jobs and names again. Takes the texts of jobstats.texts in (since, until], of a source and a cluster or of all (NULL), in order of time, by the rules of this version: for a version that understands more of a text. One row per text: records and problems of the text, rows that are new or have changed, and the error, or the reason of the first problem. A text that fails does not keep the others from being read. A second run changes nothing. Feeds of jobs and names wait until the transaction ends. NULL for since is ten minutes ago, for until now. Errors: 22023 for an empty window, 0A000 for an unknown source, 25001 isolation level above READ COMMITTED, 25006 on a standby, 42501 for roles other than the owner of the store, 55000 where there is no store.';

CREATE FUNCTION jobstats_internal.reread(cluster text, source text, server text, "time" timestamptz)
RETURNS TABLE (records integer, problems integer, changed integer, problem text)
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS 'jobstats-0.2.0', 'jobstats_reread_text_wrapper';
COMMENT ON FUNCTION jobstats_internal.reread(text, text, text, timestamptz) IS
'Internal: reads a text of jobstats.texts again; problem is why nothing of it, or not all of it, could be used.';

CREATE FUNCTION jobstats_resets(counter jobstats_counter) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_resets_wrapper';
COMMENT ON FUNCTION jobstats_resets(jobstats_counter) IS 'Returns how often a counter was reset.';

CREATE FUNCTION jobstats_resets(counter jobstats_counter, previous jobstats_counter) RETURNS bigint
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_resets_after_wrapper';
COMMENT ON FUNCTION jobstats_resets(jobstats_counter, jobstats_counter) IS
'Returns how often a counter was reset since a previous summary. With lag(counter) OVER (PARTITION BY series ORDER BY bucket) as previous, a reset between two buckets counts in the later one. previous NULL: jobstats_resets(counter). Error: 22000 for a previous that does not end before counter begins.';

CREATE FUNCTION jobstats_retire_target(name text, cluster text DEFAULT '') RETURNS void
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS 'jobstats-0.2.0', 'jobstats_retire_target_wrapper';
COMMENT ON FUNCTION jobstats_retire_target(text, text) IS
'Retires a target that is gone for good, so that it is no longer silent. What is stored of it stays. jobstats.health says retired, jobstats_metrics() leaves it out, and from its last observation on it neither holds up windows nor lowers their coverage. Its next text takes it back. cluster NULL is the empty name. Errors: 22004 for no name, 22023 for a target that does not exist, 25006 on a standby, 42501 for roles other than the owner of the store, 55000 where there is no store.';

CREATE FUNCTION jobstats_internal.roll_up(
    level text, by_user boolean, span_from timestamptz, span_to timestamptz, target_id integer DEFAULT NULL
) RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS 'jobstats-0.2.0', 'jobstats_roll_up_wrapper';
COMMENT ON FUNCTION jobstats_internal.roll_up(text, boolean, timestamptz, timestamptz, integer) IS
'Internal: computes the buckets of a rollup that is a table, or of its sums by user, by account and by both, for one target or for all, and returns the number of rows. The caller holds the lock on the store.';

CREATE FUNCTION jobstats_runs(
    job text, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL, scheduler text DEFAULT NULL
) RETURNS TABLE (
    scheduler text, job text, label text, parent text, submitted timestamptz, started timestamptz, ended timestamptz, uid bigint,
    user_name text, account text, partition text, job_name text, state text, exit_code text, nodes bigint, cpus bigint, to_come boolean
)
LANGUAGE c STABLE
AS 'jobstats-0.2.0', 'jobstats_runs_wrapper';
COMMENT ON FUNCTION jobstats_runs IS
'Lists the runs of a job, and of the elements of an array. The job is named by its number or as users type it, such as 123_4; the number of an array stands for all of its elements. Returns what accounting says of the last 10,000 runs of it, of any scheduler or of one, that ended after since or have not ended, and that began at until or before; the newest first. parent is the array or the leader to which a run belongs. to_come is true while a run has not ended, or is not in jobstats_summaries() yet; false if no text has named it for two days, or if it ended more than a day ago. NULL bounds are none. Errors: 22023 where job is NULL, 55000 where there is no store.';

CREATE FUNCTION jobstats_internal.set_comments() RETURNS void
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS 'jobstats-0.2.0', 'jobstats_set_comments_wrapper';
COMMENT ON FUNCTION jobstats_internal.set_comments() IS
'Internal: sets the comments on relations and columns of the store that are missing or have changed.';

CREATE FUNCTION jobstats_internal.set_up(
    raw_retention interval, retention interval, rejects_retention interval, rollup_10m_retention interval,
    rollup_1h_retention interval, rollup_1d_retention interval, chunk_interval interval, compress_after interval, refresh_lag interval,
    metrics text[]
) RETURNS text
LANGUAGE c VOLATILE
SET search_path = pg_catalog, pg_temp SET client_min_messages = warning SET lock_timeout = '300ms'
AS 'jobstats-0.2.0', 'jobstats_set_up_wrapper';
COMMENT ON FUNCTION jobstats_internal.set_up IS
'Internal: does what jobstats_setup() does, and fails with 55P03 where it would have to wait for a lock.';

CREATE FUNCTION jobstats_share(
    value bigint, row_since timestamptz, row_time timestamptz, since timestamptz, until timestamptz
) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_share_wrapper';
COMMENT ON FUNCTION jobstats_share(bigint, timestamptz, timestamptz, timestamptz, timestamptz) IS
'Returns the part of a value that lies in a window. The value counted in (row_since, row_time] is divided at the edges of (since, until], as if it had happened evenly: a difference of cumulative floors, so that adjacent parts add up to the value.';

CREATE FUNCTION jobstats_internal.sized(sizes bigint[], first integer) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_sized_wrapper';
COMMENT ON FUNCTION jobstats_internal.sized(bigint[], integer) IS
'Internal: the number of reads or writes in the first so many elements of a histogram of their sizes.';

CREATE FUNCTION jobstats_sizes(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    "by" text[] DEFAULT '{}',
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, target text[] DEFAULT NULL,
    server text[] DEFAULT NULL, workload text[] DEFAULT NULL, job text[] DEFAULT NULL, node text[] DEFAULT NULL,
    executable text[] DEFAULT NULL, status text[] DEFAULT NULL, uid bigint[] DEFAULT NULL, entry text[] DEFAULT NULL,
    user_name text[] DEFAULT NULL, group_name text[] DEFAULT NULL, account text[] DEFAULT NULL,
    partition text[] DEFAULT NULL, job_name text[] DEFAULT NULL, state text[] DEFAULT NULL, gid bigint[] DEFAULT NULL,
    job_group text[] DEFAULT NULL,
    exclude jsonb DEFAULT NULL
) RETURNS TABLE (
    cluster text, filesystem text, kind text, target text, server text, workload text, job text, node text,
    executable text, status text, uid bigint, entry text, user_name text, group_name text, account text,
    partition text, job_name text, state text, gid bigint, job_group text,
    operation text, known_from text, lower bigint, upper bigint, count numeric, share double precision,
    mean double precision, stddev double precision
)
LANGUAGE c STABLE
AS 'jobstats-0.2.0', 'jobstats_sizes_wrapper';
COMMENT ON FUNCTION jobstats_sizes IS
'Shows how large reads and writes were. Per group in (since, until] and operation (read_bytes, write_bytes), a row with known_from histogram counts the calls of more than lower and up to upper bytes; sizes without calls have no row. Lustre before 2.16 prints no histograms: for calls on such targets there is one row with known_from sums, which has their mean and, from Lustre 2.14 on, their standard deviation, where the sum of squares cannot have wrapped. share is the part of all calls of the group and operation. A dimension not named in by is NULL. exclude leaves out what matches any of its lists. An argument that is NULL counts as left out. Errors: 22023 for an unknown dimension or an empty window, 54000 for over a million rows, 55000 where there is no store.';

CREATE FUNCTION jobstats_internal.skip_empty_days(
    level text, by_user boolean, span_from timestamptz, span_to timestamptz
) RETURNS timestamptz
LANGUAGE c STABLE STRICT SET search_path = pg_catalog, pg_temp
AS 'jobstats-0.2.0', 'jobstats_skip_empty_days_wrapper';
COMMENT ON FUNCTION jobstats_internal.skip_empty_days(text, boolean, timestamptz, timestamptz) IS
'Internal: where the first day, counted from the start of a span, begins in which a rollup, or its sums by user, have something to compute or to delete; the last day of the span where there is none.';

CREATE FUNCTION jobstats_internal.staged_increments() RETURNS SETOF record
LANGUAGE c VOLATILE AS 'jobstats-0.2.0', 'jobstats_staged_increments_wrapper';
COMMENT ON FUNCTION jobstats_internal.staged_increments() IS
'Internal: the increments that the running feed of this session is about to store, or its audit compares.';

CREATE FUNCTION jobstats_summaries(
    job text DEFAULT NULL, uid bigint DEFAULT NULL, scheduler text DEFAULT NULL, since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL, n integer DEFAULT 10
) RETURNS TABLE (
    scheduler text, job text, label text, runs bigint, submitted timestamptz, started timestamptz, ended timestamptz, run_time interval,
    uid bigint, user_name text, gid bigint, group_name text, account text, partition text, qos text, job_name text, state text, exit_code text,
    nodes bigint, cpus bigint, first timestamptz, last_active timestamptz, active_nodes bigint, targets bigint,
    read_bytes numeric, write_bytes numeric, read numeric, write numeric, opens numeric, metadata numeric, service_time numeric,
    in_service double precision, busiest_target text
)
LANGUAGE c STABLE
AS 'jobstats-0.2.0', 'jobstats_summaries_wrapper';
COMMENT ON FUNCTION jobstats_summaries IS
'Lists finished jobs with their totals. Returns the last n rows of jobstats.job_summaries, the newest first, with this number or label, of this user and scheduler, that ended in (since, until]; an argument that is NULL selects all. in_service is the mean number of requests in service per node. Errors: 22023 for a negative n, 55000 where there is no store.';

CREATE FUNCTION jobstats_internal.summarize_some() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp AS 'jobstats-0.2.0', 'jobstats_summarize_some_wrapper';
COMMENT ON FUNCTION jobstats_internal.summarize_some() IS
'Internal: makes the summaries of some jobs of jobstats.to_summarize that are due, and returns how many these were; 0: none is left.';

CREATE FUNCTION jobstats_summary(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    "by" text[] DEFAULT '{job}',
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, target text[] DEFAULT NULL,
    server text[] DEFAULT NULL, workload text[] DEFAULT NULL, job text[] DEFAULT NULL, node text[] DEFAULT NULL,
    executable text[] DEFAULT NULL, status text[] DEFAULT NULL, uid bigint[] DEFAULT NULL, entry text[] DEFAULT NULL,
    user_name text[] DEFAULT NULL, group_name text[] DEFAULT NULL, account text[] DEFAULT NULL,
    partition text[] DEFAULT NULL, job_name text[] DEFAULT NULL, state text[] DEFAULT NULL, gid bigint[] DEFAULT NULL,
    job_group text[] DEFAULT NULL,
    exclude jsonb DEFAULT NULL
) RETURNS TABLE (
    cluster text, filesystem text, kind text, target text, server text, workload text, job text, node text,
    executable text, status text, uid bigint, entry text, user_name text, group_name text, account text,
    partition text, job_name text, state text, gid bigint, job_group text,
    first timestamptz, last_active timestamptz, nodes bigint, read_bytes numeric, write_bytes numeric, read numeric,
    write numeric, opens numeric, metadata numeric, service_time numeric, busiest_target text
)
LANGUAGE c STABLE
AS 'jobstats-0.2.0', 'jobstats_summary_wrapper';
COMMENT ON FUNCTION jobstats_summary IS
'Sums up what each job or user did, in one wide row. Per group in (since, until]: from when to when, on how many nodes, bytes and calls read and written, files opened, calls of metadata, seconds that servers spent on it, and the target that spent most on it (where servers report no times, the one with most calls). Totals are exact. A dimension not named in by is NULL. Where by names only cluster, filesystem, kind, target or server, targets that did nothing have a row too. exclude leaves out what matches any of its lists. An argument that is NULL counts as left out. Errors: 22023 for an unknown dimension or an empty window, 54000 for over a million rows, 55000 where there is no store.';

CREATE FUNCTION jobstats_internal.to_convert() RETURNS TABLE (relation text, key text, unit text, aggregate boolean)
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS 'jobstats-0.2.0', 'jobstats_to_convert_wrapper';
COMMENT ON FUNCTION jobstats_internal.to_convert() IS
'Internal: the relations of the store that are not yet what the installed TimescaleDB has, with their column of time, what is copied at once, and whether they become continuous aggregates. Fails where they cannot be converted.';

CREATE FUNCTION jobstats_top(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operation text DEFAULT NULL, "by" text[] DEFAULT '{uid,workload}', n integer DEFAULT 10,
    min_rate double precision DEFAULT NULL,
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, target text[] DEFAULT NULL,
    server text[] DEFAULT NULL, workload text[] DEFAULT NULL, job text[] DEFAULT NULL, node text[] DEFAULT NULL,
    executable text[] DEFAULT NULL, status text[] DEFAULT NULL, uid bigint[] DEFAULT NULL, entry text[] DEFAULT NULL,
    user_name text[] DEFAULT NULL, group_name text[] DEFAULT NULL, account text[] DEFAULT NULL,
    partition text[] DEFAULT NULL, job_name text[] DEFAULT NULL, state text[] DEFAULT NULL, gid bigint[] DEFAULT NULL,
    job_group text[] DEFAULT NULL,
    weights jsonb DEFAULT NULL, exclude jsonb DEFAULT NULL, unaccounted boolean DEFAULT false
) RETURNS TABLE (
    rank bigint,
    cluster text, filesystem text, kind text, target text, server text, workload text, job text, node text,
    executable text, status text, uid bigint, entry text, user_name text, group_name text, account text,
    partition text, job_name text, state text, gid bigint, job_group text,
    operation text, total numeric, rate double precision, share double precision, share_of_target double precision,
    calls numeric, per_call double precision, coverage double precision
)
LANGUAGE c STABLE
AS 'jobstats-0.2.0', 'jobstats_top_wrapper';
COMMENT ON FUNCTION jobstats_top IS
'Ranks the users, jobs or targets that did most of an operation. Returns the n groups with the largest total in (since, until], of equal ones the first by their dimensions. Without operation that is service_time or, where no target in scope reports times (Lustre before 2.14), first metadata of MDTs and then bytes of OSTs, each with ranks and shares of its own. The rate of service_time is called requests in service. share is the part of the total of all groups under the same filters; groups with a rate under min_rate are left out. share_of_target is the part of all that the targets did, by their own counters; NULL where these were read for less than 98 % of the time in which the entries of a target were observed, and where by or a filter is about servers. unaccounted adds a row without rank for the work that is in no entry, with its part of all as share_of_target, unless a filter is about entries. calls is the number of calls; total and per_call of times are in seconds, other per_call are bytes per call; per_call is NULL under ten calls. A dimension not named in by is NULL. exclude leaves out what matches any of its lists. An argument that is NULL counts as left out. Errors: 22023 for an unknown operation or dimension, an empty window or a negative n, 54000 for over a million rows, 55000 where there is no store.';

CREATE FUNCTION jobstats_totals(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operations text[] DEFAULT NULL, "by" text[] DEFAULT '{target}',
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, target text[] DEFAULT NULL,
    server text[] DEFAULT NULL, workload text[] DEFAULT NULL, job text[] DEFAULT NULL, node text[] DEFAULT NULL,
    executable text[] DEFAULT NULL, status text[] DEFAULT NULL, uid bigint[] DEFAULT NULL, entry text[] DEFAULT NULL,
    user_name text[] DEFAULT NULL, group_name text[] DEFAULT NULL, account text[] DEFAULT NULL,
    partition text[] DEFAULT NULL, job_name text[] DEFAULT NULL, state text[] DEFAULT NULL, gid bigint[] DEFAULT NULL,
    job_group text[] DEFAULT NULL,
    exclude jsonb DEFAULT NULL
) RETURNS TABLE (
    cluster text, filesystem text, kind text, target text, server text, workload text, job text, node text,
    executable text, status text, uid bigint, entry text, user_name text, group_name text, account text,
    partition text, job_name text, state text, gid bigint, job_group text,
    operation text, total numeric, calls numeric, per_call double precision, coverage double precision
)
LANGUAGE c STABLE
AS 'jobstats-0.2.0', 'jobstats_totals_wrapper';
COMMENT ON FUNCTION jobstats_totals IS
'Shows usage in a window, exactly, by user, job or target. One row per group; totals of adjacent windows (since, until] add up. calls is the number of calls; total and per_call of times are in seconds, other per_call are bytes per call; per_call is NULL under ten calls. A dimension not named in by is NULL. Where by names only cluster, filesystem, kind, target or server, targets that did nothing give 0, and NULL if they were not observed. exclude leaves out what matches any of its lists. An argument that is NULL counts as left out. Errors: 22023 for unknown operations and dimensions and for empty windows, 54000 for over a million rows, 55000 where there is no store.';

CREATE FUNCTION jobstats_unaccounted(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operations text[] DEFAULT NULL, "by" text[] DEFAULT '{target}',
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, target text[] DEFAULT NULL,
    step interval DEFAULT NULL
) RETURNS TABLE (
    "time" timestamptz, seconds double precision, cluster text, filesystem text, kind text, target text, operation text,
    total numeric, accounted numeric, unaccounted numeric, beyond numeric, share double precision, coverage double precision
)
LANGUAGE c STABLE
AS 'jobstats-0.2.0', 'jobstats_unaccounted_wrapper';
COMMENT ON FUNCTION jobstats_unaccounted IS
'Shows the work of targets that is in no entry of job_stats. In (since, until], or in steps of it, with a row for each group of targets and each operation of which anything was done. total is what the targets'' own counters say (md_stats and stats), without what metadata servers did on OSTs where their exports are fed; accounted is the sum of all entries. unaccounted is what is missing from that, and beyond what entries did more than the target counted, both added up target by target: total = accounted + unaccounted - beyond. Both are NULL where the own counters of a target were read for less than 98 % of the time in which its entries were observed. share is the part of the total that is unaccounted, coverage the part of the window in which the own counters were read. Times are in seconds. by names dimensions of targets. An argument that is NULL counts as left out. Errors: 22023 for an unknown operation or dimension, one of entries or servers, and an empty window, 54000 for over a million rows or too many steps, 55000 where there is no store.';

CREATE FUNCTION jobstats_unpack(packed bytea) RETURNS text
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_unpack_wrapper';
COMMENT ON FUNCTION jobstats_unpack(bytea) IS
'Returns the text in zstd data. NUL and bytes that are not UTF-8 are shown as \xHH. Errors: 22P03 for anything but zstd, 54000 over 1 GB, or over 16 MB and 500 times the size of the data, 53200 out of memory.';

CREATE FUNCTION jobstats_used(
    at timestamptz DEFAULT NULL, "by" text[] DEFAULT '{user}', since timestamptz DEFAULT NULL,
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, target text[] DEFAULT NULL,
    uid bigint[] DEFAULT NULL, user_name text[] DEFAULT NULL, gid bigint[] DEFAULT NULL, group_name text[] DEFAULT NULL,
    project bigint[] DEFAULT NULL, account text[] DEFAULT NULL
) RETURNS TABLE (
    cluster text, filesystem text, target text, uid bigint, user_name text, gid bigint, group_name text, project bigint,
    account text, bytes numeric, inodes numeric, added_bytes numeric, added_inodes numeric, targets bigint, of_targets bigint,
    "time" timestamptz
)
LANGUAGE c STABLE
AS 'jobstats-0.2.0', 'jobstats_used_wrapper';
COMMENT ON FUNCTION jobstats_used IS
'Shows whose files fill a file system. As Lustre accounts for it on each target (quota_slave.acct_user, …), with a row for each user, group, project or account of a file system, those with most bytes first. at NULL is now: the newest list of each target; any other time is its day of UTC: what each target said first on it, or on the last day of the week before that is known. by is user, group, project, account or nothing of these, and target, which is kept of now alone. The account of a user is that of the job that began last of those that ran at that time, or else of the one that ended last. inodes are those of MDTs: NULL where none was read. added_bytes and added_inodes compare with the day of since in the same way, and rows are in their order; NULL where that day is not known. targets says how many of the of_targets targets of the file system are in a sum, time of when the oldest list in it is; a NOTICE tells of missing ones. The other arguments are patterns with *, or numbers. An argument that is NULL counts as left out. Errors: 22023 for an unknown by, or a target in the past, 54000 for over a million rows, 55000 where there is no store.';

CREATE FUNCTION jobstats_usual(
    since timestamptz DEFAULT now() - interval '1 hour', until timestamptz DEFAULT now(),
    operation text DEFAULT 'service_time', "by" text[] DEFAULT '{uid,user_name}', n integer DEFAULT 10,
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, target text[] DEFAULT NULL,
    server text[] DEFAULT NULL, workload text[] DEFAULT NULL, job text[] DEFAULT NULL, node text[] DEFAULT NULL,
    executable text[] DEFAULT NULL, status text[] DEFAULT NULL, uid bigint[] DEFAULT NULL, entry text[] DEFAULT NULL,
    user_name text[] DEFAULT NULL, group_name text[] DEFAULT NULL, account text[] DEFAULT NULL,
    partition text[] DEFAULT NULL, job_name text[] DEFAULT NULL, state text[] DEFAULT NULL, gid bigint[] DEFAULT NULL,
    job_group text[] DEFAULT NULL,
    exclude jsonb DEFAULT NULL
) RETURNS TABLE (
    rank bigint,
    cluster text, filesystem text, kind text, target text, server text, workload text, job text, node text,
    executable text, status text, uid bigint, entry text, user_name text, group_name text, account text,
    partition text, job_name text, state text, gid bigint, job_group text,
    operation text, rate double precision, lower_quartile double precision, median double precision, upper_quartile double precision,
    mean double precision, times_usual double precision, times_mean double precision, percentile double precision, days bigint,
    coverage double precision
)
LANGUAGE c STABLE
AS 'jobstats-0.2.0', 'jobstats_usual_wrapper';
COMMENT ON FUNCTION jobstats_usual IS
'Compares what users or targets do with what is usual for them. Groups can be users, accounts, targets or file systems. The window is (since, until], of at most a day. What a group does in it is compared with what it did in the same window, in local time, on each of the 30 days before of which at least 0.8 was observed (days is their number); a day on which it did nothing counts as 0. rate, the quartiles and the mean are per second that the targets of the group were observed, as in jobstats_rates(): requests in service for times. times_usual is rate / median and times_mean rate / mean, NULL where that is 0; percentile is the part of the days with less, those with as much counted half. Returns the n groups that are most above their median, of those that did anything in the window. coverage is the part of the time of all targets in the group that was observed. A dimension not named in by is NULL. exclude leaves out what matches any of its lists. An argument that is NULL counts as left out. Errors: 22023 for an unknown operation or dimension, an empty window or one of over a day and a negative n, 54000 for over a million groups, 55000 where there is no store.';

CREATE FUNCTION jobstats_verdict(
    since timestamptz DEFAULT now() - interval '1 day', until timestamptz DEFAULT now(), "by" text[] DEFAULT '{job}',
    n integer DEFAULT 10,
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, target text[] DEFAULT NULL,
    server text[] DEFAULT NULL, workload text[] DEFAULT NULL, job text[] DEFAULT NULL, node text[] DEFAULT NULL,
    executable text[] DEFAULT NULL, status text[] DEFAULT NULL, uid bigint[] DEFAULT NULL, entry text[] DEFAULT NULL,
    user_name text[] DEFAULT NULL, group_name text[] DEFAULT NULL, account text[] DEFAULT NULL,
    partition text[] DEFAULT NULL, job_name text[] DEFAULT NULL, state text[] DEFAULT NULL, gid bigint[] DEFAULT NULL,
    job_group text[] DEFAULT NULL,
    exclude jsonb DEFAULT NULL
) RETURNS TABLE (
    rank bigint,
    cluster text, filesystem text, kind text, target text, server text, workload text, job text, node text,
    executable text, status text, uid bigint, entry text, user_name text, group_name text, account text,
    partition text, job_name text, state text, gid bigint, job_group text,
    level text, findings text[], groups bigint, calls bigint, service_time double precision, share double precision
)
LANGUAGE c STABLE
AS 'jobstats-0.2.0', 'jobstats_verdict_wrapper';
COMMENT ON FUNCTION jobstats_verdict IS
'Sums up how much work was good, fair and bad, and whose it was. Groups in (since, until] are judged as jobstats_findings() does; the level of a group is its worst. The first rows, without rank, are those of the levels bad, fair, good and not judged (too little work): how many groups they have, with how many calls and seconds of servers. Then come the n groups with findings, bad ones first, that took most time. share is the part of the time of all groups; of their calls, where servers report no times. exclude leaves out what matches any of its lists. An argument that is NULL counts as left out. Errors: 22023 for an unknown dimension, an empty window or a negative n, 54000 for over a million groups, 55000 where there is no store.';

CREATE FUNCTION jobstats_work(at timestamptz DEFAULT NULL, level text DEFAULT 'increments', target_id integer[] DEFAULT NULL) RETURNS TABLE (
    target_id integer, entry_id bigint, totals bigint[], usecs bigint[]
)
LANGUAGE c STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'jobstats-0.2.0', 'jobstats_work_wrapper';
COMMENT ON FUNCTION jobstats_work(timestamptz, text, integer[]) IS
'Shows what each entry did on each target, now or at a time. Of the level increments: in the last observation of the target up to at (NULL: now), as jobstats_targets() has it, or in its last hour; an entry has a row for each of its increments. Of a rollup (10m, 1h, 1d): in the bucket that at lies in. totals has the calls or bytes of each operation, in the order of jobstats_operations(), and usecs the microseconds that the server spent on it; NULL where it did nothing or reports no times. target_id NULL is all targets. Errors: 22023 for an unknown level, 55000 where there is no store.';

CREATE FUNCTION jobstats_zeros(density jobstats_density) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_zeros_wrapper';
COMMENT ON FUNCTION jobstats_zeros(jobstats_density) IS 'Returns how many values of a density were zero.';

-- What people say of events, and when nobody is to be told of any.

CREATE FUNCTION jobstats_judge(event_id bigint, verdict text, note text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM jobstats_internal.require_own_rows();
    IF jobstats_judge.verdict NOT IN ('real', 'false', 'known') THEN
        RAISE invalid_parameter_value USING MESSAGE = format('there is no verdict "%s"', left(jobstats_judge.verdict, 60)),
            HINT = 'Verdicts are real, false and known; NULL takes one back.';
    END IF;
    UPDATE jobstats.events e SET verdict = jobstats_judge.verdict, note = jobstats_judge.note, updated = now()
    WHERE e.event_id = jobstats_judge.event_id;
    IF NOT FOUND THEN
        RAISE invalid_parameter_value USING MESSAGE = format('there is no event %s', coalesce(jobstats_judge.event_id::text, 'NULL')),
            HINT = 'SELECT event_id FROM jobstats_events(now() - interval ''1 year'') lists events.';
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_judge(bigint, text, text) IS
'Notes whether an event was real. verdict is real, false (nothing was wrong) or known (real, and no news); NULL takes it back. jobstats_events() shows which part of the events of each kind was real or known. note says more, and should name nobody: it is kept as long as the event. Errors: 22023 for another verdict and for a number that no event has, 42501 where the caller may not write, 55000 where there is no store.';

CREATE FUNCTION jobstats_maintenance_window(
    since timestamptz, until timestamptz, filesystem text DEFAULT NULL, cluster text DEFAULT NULL, reason text DEFAULT NULL
) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    added bigint;
BEGIN
    PERFORM jobstats_internal.require_own_rows();
    IF (jobstats_maintenance_window.since < jobstats_maintenance_window.until) IS NOT TRUE THEN
        RAISE invalid_parameter_value USING MESSAGE = 'the window must begin before its end',
            HINT = 'Give since and until, such as now() and now() + interval ''4 hours''.';
    END IF;
    INSERT INTO jobstats.windows (cluster, filesystem, since, until, reason)
    VALUES (jobstats_maintenance_window.cluster, jobstats_maintenance_window.filesystem, jobstats_maintenance_window.since,
        jobstats_maintenance_window.until, jobstats_maintenance_window.reason)
    RETURNING window_id INTO added;
    RETURN added;
END
$$;
COMMENT ON FUNCTION jobstats_maintenance_window(timestamptz, timestamptz, text, text, text) IS
'Keeps events of a time of maintenance from being told. Of events that are found in [since, until), nobody is told while they last no longer than the window. filesystem and cluster are names; NULL: all. Returns the number of the window in jobstats.windows; delete the row to end it. Errors: 22023 for a window that does not begin before its end, 42501 where the caller may not write, 55000 where there is no store.';

CREATE FUNCTION jobstats_kept(level text DEFAULT 'increments', cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL) RETURNS TABLE (
    now timestamptz, since timestamptz, first timestamptz, complete timestamptz, targets bigint
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
#variable_conflict use_column
<<own>>
DECLARE
    level text := coalesce(jobstats_kept.level, text 'increments');
    since timestamptz;
BEGIN
    PERFORM jobstats_internal.require_store();
    PERFORM jobstats_internal.require_bound(text 'the pattern', pattern) FROM unnest(cluster || filesystem) pattern;
    own.since := (
        SELECT refresh.dropped FROM jobstats.refresh WHERE own.level = 'increments'
        UNION ALL
        SELECT rollup.dropped FROM jobstats.rollups rollup WHERE rollup.level = own.level);
    IF own.since IS NULL THEN
        RAISE invalid_parameter_value USING
            MESSAGE = format('there is no level "%s"', left(own.level, 60)),
            HINT = 'Levels are increments, 10m, 1h and 1d.';
    END IF;
    RETURN QUERY
    WITH known AS MATERIALIZED (
        SELECT target.target_id, target.cluster, target.name
        FROM jobstats.targets target
        WHERE (jobstats_kept.cluster IS NULL OR target.cluster LIKE ANY (jobstats_internal.as_like(jobstats_kept.cluster)))
            AND (jobstats_kept.filesystem IS NULL OR target.filesystem LIKE ANY (jobstats_internal.as_like(jobstats_kept.filesystem)))
    )
    SELECT now(), own.since, min(least(observation.first, span.first)),
        (
            SELECT min(health.last_observation)
            FROM jobstats.health
            JOIN known ON known.cluster = health.cluster AND known.name = health.target
            WHERE health.status NOT IN ('silent', 'retired')
        ),
        count(*)
    FROM known
    LEFT JOIN jobstats.observation_ends observation ON observation.target_id = known.target_id
    LEFT JOIN LATERAL (
        SELECT s.since AS first FROM jobstats.observed s
        WHERE s.target_id = known.target_id AND own.level <> 'increments' ORDER BY s.until LIMIT 1
    ) span ON true;
END
$$;
COMMENT ON FUNCTION jobstats_kept(text, text[], text[]) IS
'Says of which time the store keeps increments, or a rollup. level is increments, 10m, 1h or 1d. now is the time of the store. Older rows than since are not kept; first is the first observation, NULL if there is none. Up to complete all targets have been observed that still report; NULL if none does. targets is the number of targets. cluster and filesystem are patterns with *; NULL: all. Errors: 22023 for an unknown level, 22001 for one of over 255 bytes, 55000 where there is no store.';

-- Locks of concurrent work on the store. They are row locks in jobstats.locks, a table that only the owner of the store
-- can lock. Everybody can see the keys of advisory locks and take them.

CREATE FUNCTION jobstats_internal.lock_store() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM jobstats.locks l WHERE l.name = 'store' FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE object_not_in_prerequisite_state USING MESSAGE = 'jobstats.locks has lost a row',
            HINT = 'Run SELECT jobstats_setup(); it restores missing rows.';
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.lock_store() IS
'Internal: waits for a setup, a step of maintenance or of a conversion, and makes the next one wait until the transaction ends.';

CREATE FUNCTION jobstats_internal.await_entries() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    tries integer := 0;
BEGIN
    -- A feed never waits for this: the lock is free again when the block has failed.
    LOOP
        BEGIN
            PERFORM FROM jobstats.locks l WHERE l.name = 'entries' FOR UPDATE SKIP LOCKED;
            IF FOUND THEN
                RAISE SQLSTATE 'JSOK0';
            END IF;
        EXCEPTION WHEN SQLSTATE 'JSOK0' THEN
            RETURN;
        END;
        tries := tries + 1;
        IF tries = 100 THEN
            RAISE object_in_use USING MESSAGE = 'feeds have been running all the time';
        END IF;
        PERFORM pg_sleep(0.01);
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_internal.await_entries() IS
'Internal: waits until no feed is storing entries, so that all later ones know what is committed by now; fails with 55006 where that takes longer than a second.';

CREATE FUNCTION jobstats_internal.create_schema() RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    CREATE SCHEMA jobstats;
    RETURN true;
EXCEPTION WHEN duplicate_schema OR unique_violation THEN
    RETURN false;
END
$$;
COMMENT ON FUNCTION jobstats_internal.create_schema() IS
'Internal: creates the schema of the store; false: another transaction has just done so, and has committed.';

-- Runs with the rights of the extension's owner, a superuser: PostgreSQL shows other roles no age of a snapshot.
CREATE FUNCTION jobstats_internal.is_looked_at_since(instant xid8) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
SELECT EXISTS (
    SELECT FROM pg_stat_activity a
    WHERE a.backend_xmin IS NOT NULL AND age(a.backend_xmin) >= age(instant::xid)
        -- A number that is later than all of this cluster comes from a dump.
        AND instant < pg_snapshot_xmax(pg_current_snapshot())
        AND a.datname = current_database() AND a.pid <> pg_backend_pid()
        AND a.backend_type IS DISTINCT FROM 'autovacuum worker')
$$;
COMMENT ON FUNCTION jobstats_internal.is_looked_at_since(xid8) IS
'Internal: whether a session of this database still looks at the database as it was before a transaction.';

CREATE FUNCTION jobstats_internal.end_idle_feeds() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    it record;
    ended bigint := 0;
BEGIN
    FOR it IN
        SELECT f.pid, f.role, f.idle_since FROM jobstats_internal.feeding() f WHERE f.idle_since < now() - interval '1 minute'
    LOOP
        BEGIN
            PERFORM pg_terminate_backend(it.pid);
            ended := ended + 1;
            RAISE WARNING 'ended session % of role %, which had held the locks of a feed since % without doing anything',
                it.pid, it.role, it.idle_since;
        EXCEPTION WHEN insufficient_privilege THEN
            -- The view jobstats.health names the session.
            CONTINUE;
        END;
    END LOOP;
    RETURN ended;
END
$$;
COMMENT ON FUNCTION jobstats_internal.end_idle_feeds() IS
'Internal: ends sessions that have held the locks of a feed for a minute without doing anything, where the caller may, and returns their number.';

-- Retention, indexes and, without TimescaleDB, the partitions of the coming days.
--
-- Who waits for a lock on a table makes all readers and feeds of that table wait behind itself. So functions that lock tables
-- wait for 300 ms, and maintenance calls them again later.

CREATE FUNCTION jobstats_internal.add_partitions(relation text, unit text, span_from timestamptz, span_to timestamptz)
RETURNS integer
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET lock_timeout = '300ms'
AS $$
DECLARE
    owner name;
    key name;
    low timestamptz;
    high timestamptz;
    name text;
    strays boolean;
    held boolean := false;
    made integer := 0;
BEGIN
    IF NOT isfinite(span_from) OR NOT isfinite(span_to) OR span_to - span_from > interval '100000 days' THEN
        RAISE invalid_parameter_value USING MESSAGE = format('there are no partitions from %s to %s', span_from, span_to),
            HINT = 'Give a span of less than 100,000 days.';
    END IF;
    SELECT pg_get_userbyid(c.relowner), a.attname INTO owner, key
    FROM pg_class c
    JOIN pg_partitioned_table p ON p.partrelid = c.oid
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = p.partattrs[0]
    WHERE c.oid = to_regclass(format('jobstats.%I', relation));
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    EXECUTE format('SELECT EXISTS (SELECT FROM jobstats.%I)', relation || '_default') INTO strays;
    FOR low IN SELECT * FROM generate_series(date_trunc(unit, span_from), span_to, ('1 ' || unit)::interval) LOOP
        high := low + ('1 ' || unit)::interval;
        name := format('%s_%s', relation, to_char(low, left('YYYYMMDD', CASE unit WHEN 'year' THEN 4 WHEN 'month' THEN 6 ELSE 8 END)));
        CONTINUE WHEN to_regclass(format('jobstats.%I', name)) IS NOT NULL;
        -- A partition cannot be created for a span that has rows in the default partition already. Such rows
        -- stay there.
        IF strays THEN
            EXECUTE format('SELECT EXISTS (SELECT FROM jobstats.%I WHERE %I >= $1 AND %2$I < $2)', relation || '_default', key)
                INTO held USING low, high;
        END IF;
        CONTINUE WHEN held;
        BEGIN
            EXECUTE format('CREATE TABLE jobstats.%I PARTITION OF jobstats.%I FOR VALUES FROM (%L) TO (%L)',
                name, relation, low, high);
        EXCEPTION WHEN check_violation THEN
            -- A feed has committed rows of the span to the default partition in the meantime.
            CONTINUE;
        END;
        IF owner <> current_user THEN
            EXECUTE format('ALTER TABLE jobstats.%I OWNER TO %I', name, owner);
        END IF;
        made := made + 1;
    END LOOP;
    RETURN made;
END
$$;
COMMENT ON FUNCTION jobstats_internal.add_partitions(text, text, timestamptz, timestamptz) IS
'Internal: makes the missing partitions, a day, month or year (UTC) each, of a table of the store for a span of time and returns their number; none where TimescaleDB keeps it.';

CREATE FUNCTION jobstats_internal.forget() RETURNS integer
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
<<forget>>
DECLARE
    since timestamptz := (SELECT r.dropped FROM jobstats.refresh r);
    until timestamptz;
    kept integer;
BEGIN
    -- Increments that rollups have yet to sum are kept, however old they are. So are increments that a feed may
    -- change that does not know a horizon yet.
    UPDATE jobstats.refresh r
    SET dropped = greatest(r.dropped, least(r.horizon, (
        SELECT jobstats_internal.bucket(interval '1 day', least(min(l.refreshed), (SELECT min(d.span_from) FROM jobstats.dirty d WHERE d.problem IS NULL)))
        FROM jobstats.rollups l)))
    WHERE r.settled = r.number
    RETURNING r.dropped INTO forget.until;
    -- A rollup is kept at least as long as the rollups that it sums.
    UPDATE jobstats.rollups l
    SET dropped = greatest(l.dropped, least(
        jobstats_internal.bucket(interval '1 day', now() - (SELECT max(f.retention) FROM jobstats.rollups f WHERE f.width <= l.width)), r.dropped,
        (SELECT jobstats_internal.bucket(interval '1 day', min(n.refreshed)) FROM jobstats.rollups n WHERE n.width > l.width)))
    FROM jobstats.refresh r
    WHERE NOT EXISTS (SELECT FROM jobstats.rollups f WHERE f.width <= l.width AND f.retention IS NULL);

    -- The spans in which targets were observed are kept as long as there are rollups.
    WITH fresh AS (
        SELECT o.target_id, unnest(range_agg(tstzrange(o.since, o."time", '(]'))) AS span
        FROM jobstats.observations o
        WHERE o."time" > forget.since AND o."time" <= forget.until AND o.since IS NOT NULL
        GROUP BY o.target_id
    ), touched AS (
        DELETE FROM jobstats.observed d USING fresh f
        WHERE d.target_id = f.target_id AND d.until = lower(f.span)
        RETURNING d.target_id, tstzrange(d.since, d.until, '(]') AS span
    )
    INSERT INTO jobstats.observed (target_id, since, until)
    SELECT a.target_id, lower(a.span), upper(a.span)
    FROM (
        SELECT b.target_id, unnest(range_agg(b.span)) AS span
        FROM (TABLE fresh UNION ALL TABLE touched) b GROUP BY b.target_id) a;
    GET DIAGNOSTICS kept = ROW_COUNT;
    DELETE FROM jobstats.observed d WHERE d.until <= (SELECT min(l.dropped) FROM jobstats.rollups l);
    DELETE FROM jobstats.dirty d WHERE d.problem IS NOT NULL AND d.span_to <= (SELECT r.dropped FROM jobstats.refresh r);
    DELETE FROM jobstats.coarse c WHERE c.span_to <= (SELECT min(l.dropped) FROM jobstats.rollups l);
    RETURN kept;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget() IS
'Internal: says up to where increments, observations and rollups are too old to be kept, and keeps in observed when targets were observed. From then on nobody reads what is older; jobstats_internal.drop_before() drops it.';

-- The readings of each of these are compared with the one before.
CREATE FUNCTION jobstats_internal.compared_by(relation text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
RETURN CASE WHEN relation IN ('raw', 'target_readings') THEN 'r.target_id'
    WHEN relation = 'server_readings' THEN 'r.cluster, r.server, r.service' END;
COMMENT ON FUNCTION jobstats_internal.compared_by(text) IS
'Internal: the key by which rows of a table are compared with the one before, of an alias r; NULL: they are not.';

CREATE FUNCTION jobstats_internal.newest_texts(relation text, horizon timestamptz, OUT keys text[], OUT times timestamptz[])
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    key text := jobstats_internal.compared_by(relation);
BEGIN
    keys := '{}';
    times := '{}';
    IF key IS NULL THEN
        RETURN;
    END IF;
    -- The next reading is compared with this one. A backlog may be older than raw_retention while it is sent.
    EXECUTE format($sql$
        SELECT coalesce(array_agg(o.key), '{}'), coalesce(array_agg(o."time"), '{}')
        FROM (
            SELECT %1$s, ROW(%1$s)::text AS key, max(r."time") AS "time" FROM jobstats.%2$I r
            -- Text is not kept longer than its observation.
            WHERE r."time" < $1 AND r."time" > coalesce((SELECT f.dropped FROM jobstats.refresh f), timestamptz '-infinity')
            GROUP BY %1$s
        ) o
        WHERE NOT EXISTS (SELECT FROM jobstats.%2$I r WHERE (%1$s) = (%3$s) AND r."time" >= $1)
    $sql$, key, relation, replace(key, 'r.', 'o.')) INTO keys, times USING horizon;
END
$$;
COMMENT ON FUNCTION jobstats_internal.newest_texts(text, timestamptz) IS
'Internal: the newest reading of each target or service that has none since the horizon, by key and time; nothing for relations whose rows are not compared.';

CREATE FUNCTION jobstats_internal.drop_span(
    relation text, part text, span_from timestamptz, span_to timestamptz, keys text[], times timestamptz[])
RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    timescale text := jobstats_internal.timescale_schema();
BEGIN
    IF EXISTS (SELECT FROM unnest(times) AS k (kept) WHERE k.kept >= span_from AND k.kept < span_to) THEN
        EXECUTE format('DELETE FROM jobstats.%I r WHERE r."time" >= $1 AND r."time" < $2 AND (ROW(%s)::text, r."time") NOT IN (
                SELECT k.key, k."time" FROM unnest($3, $4) AS k (key, "time"))',
            relation, jobstats_internal.compared_by(relation)) USING span_from, span_to, keys, times;
        RETURN false;
    END IF;
    IF part IS NOT NULL THEN
        EXECUTE format('DROP TABLE jobstats.%I', part);
    ELSE
        EXECUTE format('SELECT count(*) FROM %s.drop_chunks($1::regclass, older_than => $2, newer_than => $3)', timescale)
            USING format('jobstats.%I', relation), span_to, span_from;
    END IF;
    RETURN true;
END
$$;
COMMENT ON FUNCTION jobstats_internal.drop_span(text, text, timestamptz, timestamptz, text[], timestamptz[]) IS
'Internal: drops a partition, or the chunk of a span where part is NULL; where it holds readings of these keys and times, deletes all others. Returns whether it was dropped.';

CREATE FUNCTION jobstats_internal.drop_before(relation text, horizon timestamptz) RETURNS integer
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET lock_timeout = '300ms'
AS $$
DECLARE
    timescale text := jobstats_internal.timescale_schema();
    key name;
    part record;
    kept record;
    dropped integer := 0;
BEGIN
    SELECT * INTO kept FROM jobstats_internal.newest_texts(relation, horizon);
    SELECT a.attname INTO key
    FROM pg_partitioned_table p JOIN pg_attribute a ON a.attrelid = p.partrelid AND a.attnum = p.partattrs[0]
    WHERE p.partrelid = to_regclass(format('jobstats.%I', relation));
    IF NOT FOUND AND kept.keys = '{}' THEN
        EXECUTE format('SELECT count(*) FROM %s.drop_chunks($1::regclass, older_than => $2)', timescale)
            INTO dropped USING format('jobstats.%I', relation), horizon;
        RETURN dropped;
    END IF;
    FOR part IN EXECUTE CASE WHEN key IS NULL THEN
        'SELECT NULL::text AS name, c.range_start AS low, c.range_end AS high
        FROM timescaledb_information.chunks c
        WHERE c.hypertable_schema = ''jobstats'' AND c.hypertable_name = $1 AND c.range_end <= $2
        ORDER BY c.range_start'
    ELSE
        'SELECT s.name, s.low, s.low + s.width AS high
        FROM pg_inherits i
        JOIN pg_class c ON c.oid = i.inhrelid
        CROSS JOIN LATERAL substring(c.relname FROM ''\d+$'') AS span
        CROSS JOIN LATERAL (SELECT c.relname::text AS name,
            to_date(span, left(''YYYYMMDD'', length(span)))::timestamptz AS low,
            CASE length(span) WHEN 4 THEN interval ''1 year'' WHEN 6 THEN interval ''1 month'' WHEN 8 THEN interval ''1 day'' END AS width) s
        WHERE i.inhparent = to_regclass(format(''jobstats.%I'', $1)) AND s.low + s.width <= $2
        ORDER BY s.name'
    END USING relation, horizon
    LOOP
        IF jobstats_internal.drop_span(relation, part.name, part.low, part.high, kept.keys, kept.times) THEN
            dropped := dropped + 1;
        END IF;
    END LOOP;
    IF key IS NOT NULL THEN
        EXECUTE format('DELETE FROM jobstats.%I r WHERE r.%I < $1%s', relation || '_default', key,
            CASE WHEN kept.keys <> '{}' THEN format(' AND (ROW(%s)::text, r."time") NOT IN (
                SELECT k.key, k."time" FROM unnest($2, $3) AS k (key, "time"))', jobstats_internal.compared_by(relation)) END)
            USING horizon, kept.keys, kept.times;
    END IF;
    RETURN dropped;
END
$$;
COMMENT ON FUNCTION jobstats_internal.drop_before(text, timestamptz) IS
'Internal: drops the chunks or partitions of a table of the store that end before the horizon, and returns their number. The newest reading of a target or service stays.';

-- TimescaleDB warns of chunks that are too small to gain by columns. Nobody can or needs to do something about these.
CREATE FUNCTION jobstats_internal.compress_before(horizon timestamptz, again boolean DEFAULT false) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET client_min_messages = error SET lock_timeout = '300ms'
AS $$
DECLARE
    timescale text := jobstats_internal.timescale_schema();
    name text;
    chunk text;
BEGIN
    IF timescale IS NULL OR current_setting('timescaledb.license', true) IS DISTINCT FROM 'timescale' THEN
        RETURN NULL;
    END IF;
    -- A chunk that has rows beside its columns is partial: bit 8 of its status. Feeds leave a note in jobstats.dirty where
    -- they have just changed increments, and may change more of the same chunk.
    EXECUTE $sql$
        SELECT h.relation, format('%I.%I', c.chunk_schema, c.chunk_name)
        FROM jobstats_internal.hypertables() h
        JOIN timescaledb_information.chunks c
            ON format('%I.%I', c.hypertable_schema, c.hypertable_name)::regclass = h.hypertable
        JOIN _timescaledb_catalog.chunk k ON k.schema_name = c.chunk_schema AND k.table_name = c.chunk_name
        WHERE h.packed_by IS NOT NULL AND c.range_end < $1
            AND CASE WHEN $2 THEN c.is_compressed AND k.status & 8 <> 0 AND NOT EXISTS (
                    SELECT FROM jobstats.dirty d
                    WHERE d.problem IS NULL AND d.span_from < c.range_end AND d.span_to >= c.range_start)
                ELSE NOT c.is_compressed END
        ORDER BY c.range_end, h.relation
        LIMIT 1
    $sql$ INTO name, chunk USING horizon, again;
    IF chunk IS NOT NULL THEN
        EXECUTE format('SELECT %s.compress_chunk($1::regclass)', timescale) USING chunk;
    END IF;
    RETURN name;
END
$$;
COMMENT ON FUNCTION jobstats_internal.compress_before(timestamptz, boolean) IS
'Internal: where TimescaleDB can, keeps one more chunk that ends before the horizon in columns, and returns what it is of; NULL: there is none. again: one that has got rows beside its columns since, and is not just being changed.';

CREATE FUNCTION jobstats_internal.pack_items(item jsonb, relation text) RETURNS jsonb
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
-- Packing again works for a few seconds per call; what feeds have changed may be very much.
SELECT jsonb_build_array(jsonb_build_object('do', 'nothing', 'step', 'columns of ' || pack_items.relation, 'records', true))
    || CASE
        WHEN NOT (item ->> 'again')::boolean THEN item
        WHEN l.until > clock_timestamp() THEN item || jsonb_build_object('until', l.until)
        ELSE jsonb '[]' END
FROM (SELECT coalesce((item ->> 'until')::timestamptz, clock_timestamp() + interval '10 seconds') AS until) l
WHERE pack_items.relation IS NOT NULL
$$;
COMMENT ON FUNCTION jobstats_internal.pack_items(jsonb, text) IS
'Internal: the items that record that a chunk of a relation was packed and go on with the next one; NULL: none was packed.';

CREATE FUNCTION jobstats_internal.summarize_ranges() RETURNS integer
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET lock_timeout = '500ms'
AS $$
DECLARE
    index regclass;
    summarized integer := 0;
BEGIN
    FOR index IN
        SELECT x.indexrelid
        FROM pg_class t
        JOIN pg_inherits h ON h.inhparent = t.oid
        JOIN pg_stat_user_tables s ON s.relid = h.inhrelid AND s.n_ins_since_vacuum > 0
        JOIN pg_index x ON x.indrelid = h.inhrelid
        JOIN pg_class c ON c.oid = x.indexrelid
        JOIN pg_am a ON a.oid = c.relam
        WHERE t.relnamespace = 'jobstats'::regnamespace AND a.amname = 'brin'
        ORDER BY c.relname
    LOOP
        BEGIN
            summarized := summarized + brin_summarize_new_values(index);
        EXCEPTION WHEN lock_not_available THEN
            -- VACUUM holds the lock. An automatic VACUUM would cancel itself if this waited for a second.
            CONTINUE;
        END;
    END LOOP;
    RETURN summarized;
END
$$;
COMMENT ON FUNCTION jobstats_internal.summarize_ranges() IS
'Internal: enters the ranges of pages with new rows into the indexes by time, and returns their number. Until VACUUM does that, which on a large day may be hours later, every query of recent times reads all of them.';

-- What maintenance does with used space, gauges and sums of services.

CREATE FUNCTION jobstats_internal.sum_used() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    written bigint;
BEGIN
    -- From here on no feed puts another list in the place of one of these. A list that comes later is added to the sums.
    UPDATE jobstats.used_lists l SET summed = true
    FROM jobstats.settings s
    WHERE NOT l.summed AND l.day < ((now() - s.refresh_lag) AT TIME ZONE 'UTC')::date;
    WITH gone AS (
        DELETE FROM jobstats.used_first f USING jobstats.used_lists l
        WHERE l.target_id = f.target_id AND l.kind = f.kind AND l.day = f.day AND l.summed
        RETURNING f.*
    )
    INSERT INTO jobstats.used AS used (day, cluster, filesystem, kind, id, kbytes, inodes, targets)
    -- On an OST, inodes are objects, and none of a user's files.
    SELECT g.day, t.cluster, coalesce(t.filesystem, ''), g.kind, g.id, sum(g.kbytes), sum(g.inodes) FILTER (WHERE t.kind = 'MDT'), count(*)
    FROM gone g JOIN jobstats.targets t ON t.target_id = g.target_id
    GROUP BY g.day, t.cluster, coalesce(t.filesystem, ''), g.kind, g.id
    ON CONFLICT (day, kind, cluster, filesystem, id) DO UPDATE
    SET kbytes = used.kbytes + EXCLUDED.kbytes, inodes = coalesce(used.inodes + EXCLUDED.inodes, used.inodes, EXCLUDED.inodes),
        targets = used.targets + EXCLUDED.targets;
    GET DIAGNOSTICS written = ROW_COUNT;
    RETURN written;
END
$$;
COMMENT ON FUNCTION jobstats_internal.sum_used() IS
'Internal: sums the first lists of used space of days that are over, and returns the number of sums that were written.';

CREATE FUNCTION jobstats_internal.forget_samples() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    hours timestamptz := (SELECT l.dropped FROM jobstats.rollups l WHERE l.level = '1h');
    minutes timestamptz := (SELECT l.dropped FROM jobstats.rollups l WHERE l.level = '10m');
    days timestamptz := (SELECT l.dropped FROM jobstats.rollups l WHERE l.level = '1d');
    silent timestamptz := (SELECT now() - s.jobs_retention FROM jobstats.settings s);
    idle timestamptz := (SELECT now() - s.raw_retention - interval '1 hour' FROM jobstats.settings s);
    gone bigint;
    all_gone bigint := 0;
    statement text;
BEGIN
    FOREACH statement IN ARRAY ARRAY[
        'DELETE FROM jobstats.server_hours h WHERE h.bucket <= $1',
        'DELETE FROM jobstats.samples_1h h WHERE h.bucket <= $1',
        'DELETE FROM jobstats.samples_1d d WHERE d.bucket <= $2',
        'DELETE FROM jobstats.energy e WHERE e.bucket <= $5',
        'DELETE FROM jobstats.used u WHERE u.day < ($2 AT TIME ZONE ''UTC'')::date',
        -- A server that has gone, or names that a server made up.
        'WITH series AS (DELETE FROM jobstats.sample_series s WHERE s."time" < $3 RETURNING s.series_id),
            hours AS (DELETE FROM jobstats.samples_1h h USING series s WHERE h.series_id = s.series_id),
            readings AS (DELETE FROM jobstats.energy e USING series s WHERE e.series_id = s.series_id)
        DELETE FROM jobstats.samples_1d d USING series s WHERE d.series_id = s.series_id',
        'DELETE FROM jobstats.used_now u USING (
            SELECT l.target_id, l.kind FROM jobstats.used_lists l GROUP BY l.target_id, l.kind HAVING max(l.last) < $3) l
        WHERE l.target_id = u.target_id AND l.kind = u.kind',
        'DELETE FROM jobstats.used_lists l WHERE l.summed AND l.last < least($3, $2)',
        -- A feed that waits for its row makes it again.
        'DELETE FROM jobstats.locks l WHERE l.name IN (
            SELECT k.name FROM jobstats.locks k
            WHERE k.name LIKE ''server %'' AND NOT EXISTS (
                SELECT FROM (
                    SELECT format(''server %L/%L'', h.cluster, h.server) AS name FROM jobstats.server_hours h WHERE h.bucket > $4
                    UNION ALL
                    SELECT format(''server %L/%L'', s.cluster, s.server) FROM jobstats.sample_series s WHERE s."time" > $4
                ) alive
                WHERE alive.name = k.name)
            FOR UPDATE OF k SKIP LOCKED)']
    LOOP
        EXECUTE statement USING hours, days, silent, idle, minutes;
        GET DIAGNOSTICS gone = ROW_COUNT;
        all_gone := all_gone + gone;
    END LOOP;
    RETURN all_gone;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_samples() IS
'Internal: deletes what is too old of sums of services, gauges and used space, and returns the number of rows.';

CREATE FUNCTION jobstats_internal.forget_events(horizon timestamptz) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    gone bigint;
BEGIN
    -- What was usual is judged by once more as long as texts may come late.
    DELETE FROM jobstats.usual_waits u WHERE u.day < (now() - interval '60 days')::date;
    DELETE FROM jobstats.usual_probes u WHERE u.day < (now() - interval '60 days')::date;
    DELETE FROM jobstats.usual_largest u WHERE u.day < (now() - interval '60 days')::date;
    DELETE FROM jobstats.usual_calls u WHERE u.day < (now() - interval '60 days')::date;
    DELETE FROM jobstats.windows w WHERE w.until < horizon;
    DELETE FROM jobstats.events e WHERE e.until < horizon;
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN gone;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_events(timestamptz) IS
'Internal: deletes events and maintenance windows that ended before a time, and what was usual long ago; returns the number of events.';

-- The names that users and groups had: the one place that says whose name a number was on a day. PostgreSQL puts a call of these
-- functions into the statement that calls them, as it does with views.

CREATE FUNCTION jobstats_internal.user_names(since timestamptz, until timestamptz) RETURNS TABLE (
    uid bigint, user_name text, gid bigint, named_until timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
SELECT u.uid, u.user_name, u.gid, NULL::timestamptz
FROM jobstats.users u
WHERE NOT EXISTS (SELECT FROM jobstats.earlier_users e WHERE e.uid = u.uid AND e.until >= user_names.until)
UNION ALL
SELECT e.uid, e.user_name, e.gid, CASE WHEN e.until < user_names.until THEN e.until END
FROM jobstats.earlier_users e
WHERE e.until > user_names.since AND NOT EXISTS (
    SELECT FROM jobstats.earlier_users l WHERE l.uid = e.uid AND l.until >= user_names.until AND l.until < e.until)
$$;
COMMENT ON FUNCTION jobstats_internal.user_names(timestamptz, timestamptz) IS
'Internal: the names that users had in the window (since, until], with their primary groups. named_until is NULL for the name at its end, else the end of the days of the name.';

CREATE FUNCTION jobstats_internal.group_names(at timestamptz) RETURNS TABLE (gid bigint, group_name text)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
SELECT g.gid, g.group_name
FROM jobstats.groups g
WHERE NOT EXISTS (SELECT FROM jobstats.earlier_groups e WHERE e.gid = g.gid AND e.until >= at)
UNION ALL
SELECT e.gid, e.group_name
FROM jobstats.earlier_groups e
WHERE e.until >= at AND NOT EXISTS (
    SELECT FROM jobstats.earlier_groups l WHERE l.gid = e.gid AND l.until >= at AND l.until < e.until)
$$;
COMMENT ON FUNCTION jobstats_internal.group_names(timestamptz) IS
'Internal: the names that groups had at a time.';

-- PostgreSQL puts a call of this function into the statement that calls it, so that conditions on entries choose what is read, and
-- what nobody asks for is not computed. A clause SET would prevent that.
CREATE FUNCTION jobstats_entries(at timestamptz DEFAULT NULL) RETURNS TABLE (
    entry_id bigint, entry text, status text, workload text, job text, uid bigint, user_name text, gid bigint, group_name text,
    account text, partition text, job_name text, state text, job_group text, node text, executable text, pid bigint
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
SELECT entry.entry_id, entry.name, entry.status, entry.workload, entry.job,
    coalesce(entry.uid, job.uid),
    coalesce(person.user_name, CASE WHEN entry.uid IS NULL THEN job.user_name END),
    coalesce(person.gid, CASE WHEN entry.uid IS NULL THEN job.gid END),
    -- The name that the job has for its group says nothing of another group of the user.
    coalesce(team.group_name, CASE WHEN entry.uid IS NULL AND coalesce(person.gid, job.gid) IS NOT DISTINCT FROM job.gid
        THEN job.group_name END),
    job.account, job.partition, job.job_name, job.state, coalesce(job.job_group, entry.job), entry.node, entry.executable, entry.pid
FROM jobstats.entries entry
LEFT JOIN jobstats.entry_jobs entry_job ON entry_job.entry_id = entry.entry_id
    AND entry_job.valid_from < coalesce(at, now()) AND entry_job.valid_to >= coalesce(at, now())
LEFT JOIN jobstats.job_ids job ON job.job_no = entry_job.job_no
LEFT JOIN jobstats_internal.user_names(coalesce(at, now()) - interval '1 microsecond', coalesce(at, now())) person
    ON person.uid = coalesce(entry.uid, job.uid)
LEFT JOIN jobstats_internal.group_names(coalesce(at, now())) team
    ON team.gid = coalesce(person.gid, CASE WHEN entry.uid IS NULL THEN job.gid END)
$$;
COMMENT ON FUNCTION jobstats_entries(timestamptz) IS
'Shows whose work each entry counts at a time, as far as it is known. One row per entry: what its identifier says, the job that it belongs to on that day of UTC, and the names that the user and the group had at the start of that day; NULL where nobody knows. at NULL is now. All other reading functions name users and jobs by the same rules. Ask for some entries only, by a join or a condition on entry_id: a store has millions of them. Errors: 42P01 where there is no store.';

CREATE FUNCTION jobstats_internal.observed_add(internal, timestamptz, timestamptz, timestamptz[]) RETURNS internal
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'jobstats-0.2.0', 'observed_add_wrapper';
COMMENT ON FUNCTION jobstats_internal.observed_add(internal, timestamptz, timestamptz, timestamptz[]) IS
'Internal: of jobstats_internal.observed.';

CREATE FUNCTION jobstats_internal.observed_finish(internal) RETURNS bigint[]
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'observed_finish_wrapper';
COMMENT ON FUNCTION jobstats_internal.observed_finish(internal) IS 'Internal: of jobstats_internal.observed.';

CREATE AGGREGATE jobstats_internal.observed(since timestamptz, until timestamptz, edges timestamptz[]) (
    SFUNC = jobstats_internal.observed_add, STYPE = internal, FINALFUNC = jobstats_internal.observed_finish, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_internal.observed(timestamptz, timestamptz, timestamptz[]) IS
'Internal: how many microseconds of each step between edges, which are in order and the same in all rows, lie in the spans (since, until]; NULL where there are none.';

CREATE FUNCTION jobstats_internal.own_uids() RETURNS bigint[]
LANGUAGE c STABLE AS 'jobstats-0.2.0', 'own_uids_wrapper';
COMMENT ON FUNCTION jobstats_internal.own_uids() IS
'Internal: the users whose work the caller sees, if the caller is a reader of their own work; NULL for who sees all or nothing. Errors: 42501 for a role that asks for others and does not say for whom.';

-- Pseudonyms: of a user, a number that no system gives; of a job and of an identifier, a text. Who has the secret can find out whose a
-- pseudonym is by trying all users.

CREATE FUNCTION jobstats_internal.pseudonym(text text) RETURNS text
LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp
AS $$
SELECT jobstats_internal.pseudonym(s.pseudonyms, text) FROM jobstats.secrets s
$$;
COMMENT ON FUNCTION jobstats_internal.pseudonym(text) IS
'Internal: the pseudonym of a job or an identifier; of a pseudonym, itself.';

CREATE FUNCTION jobstats_internal.is_person(uid bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT uid BETWEEN s.system_uids_below AND 4294967295 FROM jobstats.settings s
$$;
COMMENT ON FUNCTION jobstats_internal.is_person(bigint) IS
'Internal: whether a number is that of a user, and neither of one of the system nor a pseudonym.';

-- A user that only a name tells has a pseudonym, too, if getent does not tell the number.
CREATE FUNCTION jobstats_internal.pseudonym_of_user(uid bigint, user_name text) RETURNS bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN jobstats_internal.is_person(n.uid) THEN jobstats_internal.pseudonym_of_user(s.pseudonyms, n.uid::text)
    WHEN n.uid IS NULL AND user_name IS NOT NULL THEN jobstats_internal.pseudonym_of_user(s.pseudonyms, user_name)
    ELSE n.uid END
FROM jobstats.secrets s
CROSS JOIN LATERAL (
    SELECT coalesce(pseudonym_of_user.uid, (SELECT CASE WHEN count(*) = 1 THEN min(u.uid) END
        FROM jobstats.users u WHERE u.user_name = pseudonym_of_user.user_name AND u.source = text 'getent')) AS uid) n
$$;
COMMENT ON FUNCTION jobstats_internal.pseudonym_of_user(bigint, text) IS
'Internal: the pseudonym of the user of a number, else of a name: a number of 2^32 and more; of a pseudonym and of a user of the system, itself; NULL: neither is known.';

-- Takes from the store who somebody was, and leaves what was done: sums by target, account and partition stay what they are.

CREATE FUNCTION jobstats_internal.names_of_user(uid bigint) RETURNS TABLE (user_name text, since timestamptz, until timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
-- The first name that is known counts for all time before.
SELECT n.user_name, CASE WHEN lag(n.until) OVER (ORDER BY n.until) IS NULL THEN timestamptz '-infinity' ELSE n.since END, n.until
FROM (
    SELECT e.user_name, e.since, e.until FROM jobstats.earlier_users e WHERE e.uid = names_of_user.uid
    UNION ALL
    SELECT u.user_name, u.since, timestamptz 'infinity' FROM jobstats.users u WHERE u.uid = names_of_user.uid) n
UNION ALL
SELECT n.user_name, timestamptz '-infinity', timestamptz 'infinity'
FROM jobstats.forgotten f, unnest(f.user_names) AS n (user_name)
WHERE f.uid = names_of_user.uid
    AND NOT EXISTS (SELECT FROM jobstats.users u WHERE u.user_name = n.user_name AND u.uid <> f.uid)
    AND NOT EXISTS (SELECT FROM jobstats.earlier_users e WHERE e.user_name = n.user_name AND e.uid <> f.uid)
$$;
COMMENT ON FUNCTION jobstats_internal.names_of_user(bigint) IS
'Internal: the names that a user has and had, each in [since, until); of a user who was forgotten, those that nobody else has or had.';

CREATE FUNCTION jobstats_internal.jobs_of_user(uid bigint) RETURNS SETOF bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT i.job_no FROM jobstats.job_ids i WHERE i.uid = jobs_of_user.uid
UNION
SELECT s.job_no FROM jobstats.job_summaries s WHERE s.uid = jobs_of_user.uid
UNION
SELECT j.job_no
FROM (
    SELECT i.job_no, i.user_name, i.started FROM jobstats.job_ids i WHERE i.uid IS NULL
    UNION ALL SELECT s.job_no, s.user_name, s.started FROM jobstats.job_summaries s WHERE s.uid IS NULL) j
JOIN jobstats_internal.names_of_user(jobs_of_user.uid) n ON n.user_name = j.user_name AND j.started >= n.since AND j.started < n.until
$$;
COMMENT ON FUNCTION jobstats_internal.jobs_of_user(bigint) IS
'Internal: the keys of the jobs of a user, by number, or by a name that the user had then.';

CREATE FUNCTION jobstats_internal.entries_of_user(uid bigint, numbers bigint[]) RETURNS SETOF bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
WITH job AS MATERIALIZED (
    SELECT n.job_no FROM unnest(numbers) n (job_no)
), matched AS MATERIALIZED (
    SELECT DISTINCT m.entry_id FROM job JOIN jobstats.entry_jobs m ON m.job_no = job.job_no
)
SELECT e.entry_id FROM jobstats.entries e WHERE e.uid = entries_of_user.uid
UNION
-- What the system did for these jobs, and what has no number of a user.
SELECT m.entry_id FROM matched m JOIN jobstats.entries e ON e.entry_id = m.entry_id WHERE e.status <> 'forgotten'
EXCEPT
SELECT o.entry_id
FROM matched m
JOIN jobstats.entry_jobs o ON o.entry_id = m.entry_id AND o.job_no IS NOT NULL
JOIN jobstats.entries e ON e.entry_id = m.entry_id AND e.uid IS DISTINCT FROM entries_of_user.uid
LEFT JOIN job ON job.job_no = o.job_no
WHERE job.job_no IS NULL
$$;
COMMENT ON FUNCTION jobstats_internal.entries_of_user(bigint, bigint[]) IS
'Internal: the entries of a user, and those that belong to these jobs of the user alone.';

CREATE FUNCTION jobstats_internal.jobs_of_others(entries bigint[], numbers bigint[], runs tid[]) RETURNS text[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
-- Entries are matched by the numbers of their jobs. What stays must find its job.
WITH entry AS MATERIALIZED (
    SELECT n.entry_id FROM unnest(entries) n (entry_id)
), number AS MATERIALIZED (
    SELECT n.job_no FROM unnest(numbers) n (job_no)
), own AS MATERIALIZED (
    SELECT e.job FROM entry JOIN jobstats.entries e ON e.entry_id = entry.entry_id WHERE e.job IS NOT NULL
    UNION
    SELECT j.job FROM number JOIN jobstats.job_ids j ON j.job_no = number.job_no
    UNION
    SELECT j.job FROM jobstats.jobs j WHERE j.ctid = ANY (runs)
)
SELECT coalesce(array_agg(o.job), '{}')
FROM (
    SELECT own.job
    FROM own JOIN jobstats.entries e ON e.job = own.job LEFT JOIN entry ON entry.entry_id = e.entry_id
    WHERE entry.entry_id IS NULL
    UNION
    SELECT own.job
    FROM own JOIN jobstats.job_ids j ON j.job = own.job LEFT JOIN number ON number.job_no = j.job_no
    WHERE number.job_no IS NULL) o
$$;
COMMENT ON FUNCTION jobstats_internal.jobs_of_others(bigint[], bigint[], tid[]) IS
'Internal: the numbers of jobs, of those that these entries, jobs and rows of runs have, that other entries or jobs have too.';

CREATE FUNCTION jobstats_internal.pseudonym_of_job(job text, kept text[]) RETURNS text
LANGUAGE sql STABLE
RETURN CASE WHEN job = ANY (kept) THEN job ELSE jobstats_internal.pseudonym(job) END;
COMMENT ON FUNCTION jobstats_internal.pseudonym_of_job(text, text[]) IS
'Internal: the pseudonym of the number of a job; of one that is kept, itself.';

CREATE FUNCTION jobstats_internal.name_for_ever(entry_id bigint) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN text 'pseudonym:' || lpad(to_hex(entry_id), 16, text '0');
COMMENT ON FUNCTION jobstats_internal.name_for_ever(bigint) IS 'Internal: the name of a forgotten entry that no identifier has.';

CREATE FUNCTION jobstats_internal.forget_entries(entries bigint[], kept text[], find_again boolean) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
-- Problems name the entry that adds up to too much.
UPDATE jobstats.maintenance m SET problem = replace(m.problem, left(e.name, 100), text 'forgotten')
FROM jobstats.entries e
WHERE m.problem LIKE '%, entry %' AND e.entry_id = ANY (entries) AND strpos(m.problem, ', entry ' || left(e.name, 100) || ':') > 0;
UPDATE jobstats.dirty d SET problem = replace(d.problem, left(e.name, 100), text 'forgotten')
FROM jobstats.entries e
WHERE d.problem LIKE '%, entry %' AND e.entry_id = ANY (entries) AND strpos(d.problem, ', entry ' || left(e.name, 100) || ':') > 0;
UPDATE jobstats.entries e
SET name = f.name, job = f.job, uid = jobstats_internal.pseudonym_of_user(e.uid, NULL::text), gid = NULL, node = NULL, executable = NULL,
    pid = NULL, format = NULL, claimed = NULL, status = text 'forgotten', workload = coalesce(f.job, f.name)
FROM (
    SELECT e.entry_id, jobstats_internal.pseudonym_of_job(e.job, kept) AS job,
        CASE WHEN find_again THEN jobstats_internal.pseudonym(e.name) ELSE jobstats_internal.name_for_ever(e.entry_id) END AS name
    FROM jobstats.entries e
    WHERE e.entry_id = ANY (entries)
    ORDER BY e.entry_id
    FOR NO KEY UPDATE) f
WHERE e.entry_id = f.entry_id
$$;
COMMENT ON FUNCTION jobstats_internal.forget_entries(bigint[], text[], boolean) IS
'Internal: takes from entries whose they are. find_again: what an identifier does from now on goes to its forgotten entry, too; otherwise to a new one. Numbers of jobs that are kept are those of others, too.';

-- Slurm's state of a job can be CANCELLED by 1000.
CREATE FUNCTION jobstats_internal.without_canceller(state text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN regexp_replace(state, text ' by \d+$', text '');
COMMENT ON FUNCTION jobstats_internal.without_canceller(text) IS 'Internal: the state of a job without the user who cancelled it.';

CREATE FUNCTION jobstats_internal.forget_jobs(numbers bigint[], runs tid[], kept text[], uid bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    -- A text of accounting may have brought back what was forgotten before.
    DELETE FROM jobstats.jobs old
    USING jobstats.jobs new
    WHERE new.ctid = ANY (runs) AND old.ctid <> new.ctid AND old.scheduler = new.scheduler
        AND old.job IN (new.job, jobstats_internal.pseudonym(new.job)) AND old.label = jobstats_internal.pseudonym(new.label)
        AND old.submitted IS NOT DISTINCT FROM new.submitted AND (old.started IS NOT DISTINCT FROM new.started OR old.started IS NULL);
    WITH forgotten AS (
        UPDATE jobstats.jobs j
        SET job = jobstats_internal.pseudonym_of_job(j.job, kept),
            label = jobstats_internal.pseudonym(j.label), uid = jobstats_internal.pseudonym_of_user(coalesce(forget_jobs.uid, j.uid), j.user_name),
            user_name = NULL, gid = NULL, group_name = NULL, job_name = NULL, state = jobstats_internal.without_canceller(j.state),
            node_list = NULL, parent = jobstats_internal.pseudonym(j.parent), extra = NULL, provenance = NULL
        WHERE j.ctid = ANY (runs)
        RETURNING j.job
    )
    -- What a text has just said of the user's jobs counts from now on; of old ones no text says anything.
    INSERT INTO jobstats.to_match (job) SELECT DISTINCT f.job FROM forgotten f WHERE forget_jobs.uid IS NOT NULL;
    UPDATE jobstats.job_ids j
    SET job = jobstats_internal.pseudonym_of_job(j.job, kept), label = jobstats_internal.pseudonym(j.label),
        uid = jobstats_internal.pseudonym_of_user(coalesce(forget_jobs.uid, j.uid), j.user_name), user_name = NULL, gid = NULL, group_name = NULL,
        job_name = NULL, state = jobstats_internal.without_canceller(j.state), job_group = jobstats_internal.pseudonym(j.job_group)
    WHERE j.job_no = ANY (numbers);
    UPDATE jobstats.job_summaries j
    SET job = jobstats_internal.pseudonym_of_job(j.job, kept), label = jobstats_internal.pseudonym(j.label),
        uid = jobstats_internal.pseudonym_of_user(coalesce(forget_jobs.uid, j.uid), j.user_name), user_name = NULL, gid = NULL, group_name = NULL,
        job_name = NULL, state = jobstats_internal.without_canceller(j.state)
    WHERE j.job_no = ANY (numbers);
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_jobs(bigint[], tid[], text[], bigint) IS
'Internal: takes from jobs, by their keys and the rows of their runs, whose they are. They get the pseudonym of the user, or of their own (NULL). Numbers that are kept are those of others, too.';

CREATE FUNCTION jobstats_internal.forget_sums(uid bigint, pseudonym bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    relation text;
BEGIN
    -- A columnstore changes at most 100,000 rows in a statement, unless it is told otherwise.
    PERFORM set_config(s.name, '0', true) FROM pg_settings s WHERE s.name = 'timescaledb.max_tuples_decompressed_per_dml_transaction';
    FOR relation IN
        SELECT c.relname FROM pg_class c
        WHERE c.relnamespace = 'jobstats'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname ~ '^rollup_(10m|1h|1d)_(users|members)$'
        ORDER BY c.relname
    LOOP
        EXECUTE format('UPDATE jobstats.%I SET uid = $2, user_name = NULL, gid = NULL, group_name = NULL WHERE uid = $1', relation)
            USING uid, pseudonym;
        EXECUTE format('UPDATE jobstats.%I r SET uid = $2, user_name = NULL, gid = NULL, group_name = NULL
            FROM jobstats_internal.names_of_user($1) n
            WHERE r.uid IS NULL AND r.user_name = n.user_name AND r.bucket > n.since AND r.bucket <= n.until', relation) USING uid, pseudonym;
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_sums(bigint, bigint) IS 'Internal: gives the sums by user of a user to the pseudonym.';

CREATE FUNCTION jobstats_internal.forget_days_of_used(kind text, id bigint, before timestamptz, pseudonym bigint) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
WITH said AS (
    DELETE FROM jobstats.used u
    WHERE u.kind = forget_days_of_used.kind AND u.day < (before AT TIME ZONE 'UTC')::date
        AND CASE WHEN forget_days_of_used.id IS NULL THEN u.id <= 4294967295 AND jobstats_internal.is_person(u.id) ELSE u.id = forget_days_of_used.id END
    RETURNING u.*
)
-- A list that came later adds to what was forgotten before.
INSERT INTO jobstats.used AS sum (day, cluster, filesystem, kind, id, kbytes, inodes, targets)
SELECT s.day, s.cluster, s.filesystem, s.kind, coalesce(pseudonym, jobstats_internal.pseudonym_of_user(s.id, NULL::text)), s.kbytes, s.inodes, s.targets
FROM said s
ON CONFLICT (day, kind, cluster, filesystem, id) DO UPDATE
SET kbytes = sum.kbytes + excluded.kbytes, inodes = coalesce(sum.inodes + excluded.inodes, sum.inodes, excluded.inodes),
    targets = sum.targets + excluded.targets
$$;
COMMENT ON FUNCTION jobstats_internal.forget_days_of_used(text, bigint, timestamptz, bigint) IS
'Internal: gives used space of days before one to the pseudonym: of a user or a group, or of all users to their own (NULL).';

CREATE FUNCTION jobstats_internal.forget_used(kind text, id bigint, pseudonym bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    -- In the order in which feeds lock them.
    PERFORM FROM jobstats.used_now u WHERE u.kind = forget_used.kind AND u.id IN (forget_used.id, pseudonym) ORDER BY u.target_id FOR UPDATE;
    -- What was said since the last time replaces what was said before; sums of days get more.
    DELETE FROM jobstats.used_now old USING jobstats.used_now new
    WHERE new.kind = forget_used.kind AND new.id = forget_used.id AND old.kind = new.kind AND old.id = pseudonym AND old.target_id = new.target_id;
    UPDATE jobstats.used_now u SET id = pseudonym WHERE u.kind = forget_used.kind AND u.id = forget_used.id;
    DELETE FROM jobstats.used_first old USING jobstats.used_first new
    WHERE new.kind = forget_used.kind AND new.id = forget_used.id AND old.kind = new.kind AND old.id = pseudonym
        AND old.target_id = new.target_id AND old.day = new.day;
    UPDATE jobstats.used_first u SET id = pseudonym WHERE u.kind = forget_used.kind AND u.id = forget_used.id;
    PERFORM jobstats_internal.forget_days_of_used(forget_used.kind, forget_used.id, timestamptz 'infinity', pseudonym);
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_used(text, bigint, bigint) IS 'Internal: gives the used space of a user or a group to the pseudonym.';

CREATE FUNCTION jobstats_internal.own_groups(uid bigint) RETURNS SETOF bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT g.gid
FROM (SELECT g.gid, g.group_name FROM jobstats.groups g UNION SELECT e.gid, e.group_name FROM jobstats.earlier_groups e) g
JOIN jobstats_internal.names_of_user(own_groups.uid) n ON n.user_name = g.group_name
WHERE NOT EXISTS (SELECT FROM jobstats.users u WHERE u.gid = g.gid AND u.uid <> own_groups.uid)
    AND (g.gid = own_groups.uid OR EXISTS (SELECT FROM jobstats.users u WHERE u.gid = g.gid AND u.uid = own_groups.uid))
UNION
SELECT unnest(f.gids) FROM jobstats.forgotten f WHERE f.uid = own_groups.uid
$$;
COMMENT ON FUNCTION jobstats_internal.own_groups(bigint) IS
'Internal: the primary groups of a user alone that are called like the user, also of one who was forgotten.';

CREATE FUNCTION jobstats_internal.forget_names(uid bigint, pseudonym bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    own_gid bigint;
    gone bigint;
BEGIN
    FOR own_gid IN SELECT jobstats_internal.own_groups(forget_names.uid) LOOP
        PERFORM jobstats_internal.forget_used(text 'group', own_gid, pseudonym);
        DELETE FROM jobstats.groups g WHERE g.gid = own_gid;
        DELETE FROM jobstats.earlier_groups g WHERE g.gid = own_gid;
    END LOOP;
    PERFORM jobstats_internal.forget_used(text 'user', forget_names.uid, pseudonym);
    DELETE FROM jobstats.to_resolve r WHERE r.uid = forget_names.uid;
    DELETE FROM jobstats.members m WHERE m.uid = forget_names.uid;
    DELETE FROM jobstats.managers m WHERE m.uid = forget_names.uid;
    WITH earlier AS (
        DELETE FROM jobstats.earlier_users u WHERE u.uid = forget_names.uid RETURNING u.uid
    ), present AS (
        DELETE FROM jobstats.users u WHERE u.uid = forget_names.uid RETURNING u.uid
    )
    SELECT (SELECT count(*) FROM earlier) + (SELECT count(*) FROM present) INTO gone;
    RETURN gone;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_names(bigint, bigint) IS
'Internal: deletes what a user and the user''s own groups are and were called, and what the user may see; used space goes to the pseudonym. Returns the number of names.';

CREATE FUNCTION jobstats_internal.runs_of_user(uid bigint) RETURNS SETOF tid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT j.ctid
FROM jobstats.jobs j
WHERE j.uid = runs_of_user.uid OR j.uid IS NULL AND EXISTS (
    SELECT FROM jobstats_internal.names_of_user(runs_of_user.uid) n
    WHERE n.user_name = j.user_name AND coalesce(j.started, j.submitted, j.updated) >= n.since
        AND coalesce(j.started, j.submitted, j.updated) < n.until)
$$;
COMMENT ON FUNCTION jobstats_internal.runs_of_user(bigint) IS
'Internal: the rows of the runs of jobs of a user, by number, or by a name that the user had then.';

-- The first of the culprits has its largest job; of those that are jobs, no other one has a user.
CREATE FUNCTION jobstats_internal.forget_culprits(uid bigint, user_names text[], jobs text[], kept text[], before timestamptz) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    changed bigint;
BEGIN
    UPDATE jobstats.events e SET culprits = jsonb_set(e.culprits, '{subjects}', n.subjects)
    FROM (
        SELECT o.event_id, jsonb_agg(CASE WHEN f.is_forgotten THEN jsonb_strip_nulls(s.subject - 'user_name' || jsonb_build_object(
                'uid', jobstats_internal.pseudonym_of_user((s.subject ->> 'uid')::bigint, s.subject ->> 'user_name'),
                'job', jobstats_internal.pseudonym_of_job(s.subject ->> 'job', kept))) ELSE s.subject END ORDER BY s.number) AS subjects
        FROM jobstats.events o
        CROSS JOIN LATERAL jsonb_array_elements(o.culprits -> 'subjects') WITH ORDINALITY AS s (subject, number)
        CROSS JOIN LATERAL (
            SELECT CASE WHEN forget_culprits.uid IS NULL THEN s.subject ?| '{uid,user_name,job}'::text[]
                ELSE coalesce((s.subject ->> 'uid')::bigint = forget_culprits.uid, s.subject ->> 'user_name' = ANY (user_names), false)
                    OR NOT s.subject ? 'uid' AND s.subject ->> 'job' = ANY (jobs) END IS TRUE AS is_forgotten) f
        WHERE o.until < forget_culprits.before
        GROUP BY o.event_id
    ) n
    WHERE e.event_id = n.event_id AND e.culprits -> 'subjects' <> n.subjects;
    GET DIAGNOSTICS changed = ROW_COUNT;
    RETURN changed;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_culprits(bigint, text[], text[], text[], timestamptz) IS
'Internal: gives what events that ended before a time say of a user, of these names and jobs, to pseudonyms; uid NULL: of everybody. Numbers of jobs that are kept are those of others, too. Returns the number of events.';

CREATE FUNCTION jobstats_internal.forget_work_of(uid bigint, OUT entries bigint, OUT jobs bigint, OUT names bigint)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    pseudonym bigint := jobstats_internal.pseudonym_of_user(forget_work_of.uid, NULL::text);
    numbers bigint[];
    runs tid[];
    identified bigint[];
    kept text[];
BEGIN
    PERFORM jobstats_internal.lock_store();
    -- Feeds of jobs lock them in another order.
    PERFORM FROM jobstats.locks l WHERE l.name = 'jobs' FOR UPDATE;
    numbers := ARRAY(SELECT jobstats_internal.jobs_of_user(forget_work_of.uid));
    identified := ARRAY(SELECT jobstats_internal.entries_of_user(forget_work_of.uid, numbers));
    PERFORM FROM jobstats.entries e WHERE e.entry_id = ANY (identified) ORDER BY e.entry_id FOR NO KEY UPDATE;
    PERFORM jobstats_internal.forget_sums(forget_work_of.uid, pseudonym);
    runs := ARRAY(SELECT jobstats_internal.runs_of_user(forget_work_of.uid));
    kept := jobstats_internal.jobs_of_others(identified, numbers, runs);
    PERFORM jobstats_internal.forget_culprits(forget_work_of.uid,
        ARRAY(SELECT n.user_name FROM jobstats_internal.names_of_user(forget_work_of.uid) n),
        ARRAY(SELECT i.job FROM jobstats.job_ids i WHERE i.job_no = ANY (numbers)
            UNION SELECT e.job FROM jobstats.entries e WHERE e.entry_id = ANY (identified) AND e.job IS NOT NULL), kept, timestamptz 'infinity');
    PERFORM jobstats_internal.forget_entries(identified, kept, true);
    PERFORM jobstats_internal.forget_jobs(numbers, runs, kept, forget_work_of.uid);
    -- Whose jobs the user cancelled.
    UPDATE jobstats.jobs j SET state = jobstats_internal.without_canceller(j.state) WHERE j.state LIKE '% by ' || forget_work_of.uid;
    UPDATE jobstats.job_ids j SET state = jobstats_internal.without_canceller(j.state) WHERE j.state LIKE '% by ' || forget_work_of.uid;
    UPDATE jobstats.job_summaries j SET state = jobstats_internal.without_canceller(j.state) WHERE j.state LIKE '% by ' || forget_work_of.uid;
    PERFORM FROM jobstats.locks l WHERE l.name = 'names' FOR UPDATE;
    names := jobstats_internal.forget_names(forget_work_of.uid, pseudonym);
    entries := cardinality(identified);
    jobs := greatest(cardinality(numbers), cardinality(runs));
    -- Statistics of columns have frequent values.
    IF entries + jobs + names > 0 THEN
        ANALYZE jobstats.entries, jobstats.jobs, jobstats.job_ids, jobstats.job_summaries, jobstats.users, jobstats.earlier_users,
            jobstats.groups, jobstats.earlier_groups, jobstats.used_now, jobstats.used_first, jobstats.used;
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_work_of(bigint) IS
'Internal: takes from the store who a user was, and returns how many entries, jobs and names that concerned.';

CREATE FUNCTION jobstats_internal.forget_user(uid bigint) RETURNS TABLE (trace text, "rows" bigint, gone timestamptz)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    done record;
    setting jobstats.settings;
BEGIN
    SELECT * INTO STRICT setting FROM jobstats.settings s;
    IF uid IS NULL THEN
        RAISE null_value_not_allowed USING MESSAGE = 'uid must not be NULL', HINT = 'Give the number of the user: id -u NAME tells it.';
    ELSIF NOT jobstats_internal.is_person(uid) THEN
        RAISE invalid_parameter_value USING MESSAGE = format('uid must be from %s to 4294967295, not %s', setting.system_uids_below, uid),
            HINT = 'Users below settings.system_uids_below belong to the system.';
    END IF;
    INSERT INTO jobstats.forgotten AS f (uid, user_names, gids, until)
    SELECT forget_user.uid, ARRAY(SELECT DISTINCT n.user_name FROM jobstats_internal.names_of_user(forget_user.uid) n),
        ARRAY(SELECT jobstats_internal.own_groups(forget_user.uid)),
        now() + greatest(setting.raw_retention, setting.rejects_retention) + setting.chunk_interval
    ON CONFLICT (uid) DO UPDATE
    SET user_names = ARRAY(SELECT DISTINCT n.* FROM unnest(f.user_names || excluded.user_names) n),
        gids = ARRAY(SELECT DISTINCT g.* FROM unnest(f.gids || excluded.gids) g), until = greatest(f.until, excluded.until);
    done := jobstats_internal.forget_work_of(uid);
    RETURN QUERY
    SELECT t.trace, t.n, CASE WHEN t.kept >= @extschema@.jobstats_forever() THEN timestamptz 'infinity' ELSE now() + t.kept END
    FROM (VALUES (1, 'identifiers', done.entries, interval '0'), (2, 'jobs', done.jobs, '0'), (3, 'names', done.names, '0'),
        (4, 'raw text', NULL, setting.raw_retention + setting.chunk_interval), (5, 'raw text of events', NULL, jobstats_internal.evidence_kept_for()),
        (6, 'text of accounting and names', NULL, setting.raw_retention), (7, 'rejects', NULL, setting.rejects_retention), (8, 'backups and exported files', NULL, NULL)) AS t (number, trace, n, kept)
    ORDER BY t.number;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_user(bigint) IS
'Internal: does what jobstats_forget_user() says.';

CREATE FUNCTION jobstats_internal.come_back() RETURNS SETOF bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT f.uid
FROM jobstats.forgotten f
WHERE EXISTS (SELECT FROM jobstats.users u WHERE u.uid = f.uid)
    OR EXISTS (SELECT FROM jobstats.entries e WHERE e.uid = f.uid)
    OR EXISTS (SELECT FROM jobstats.job_ids i WHERE i.uid = f.uid)
    OR EXISTS (SELECT FROM jobstats.job_summaries s WHERE s.uid = f.uid)
    OR EXISTS (SELECT FROM jobstats.groups g WHERE g.gid = ANY (f.gids))
    OR EXISTS (SELECT FROM jobstats.used_now u WHERE u.kind = 'user' AND u.id = f.uid)
    OR EXISTS (SELECT FROM jobstats.used_first u WHERE u.kind = 'user' AND u.id = f.uid)
UNION
SELECT f.uid FROM jobstats.forgotten f JOIN jobstats.jobs j ON j.uid = f.uid
UNION
SELECT f.uid
FROM jobstats.forgotten f
CROSS JOIN LATERAL jobstats_internal.names_of_user(f.uid) n
JOIN jobstats.jobs j ON j.uid IS NULL AND j.user_name = n.user_name
UNION
SELECT f.uid FROM jobstats.forgotten f JOIN jobstats.jobs j ON substring(j.state, text ' by (\d+)$') = f.uid::text
ORDER BY 1
$$;
COMMENT ON FUNCTION jobstats_internal.come_back() IS
'Internal: the users who were forgotten, and of whom the store has something again.';

CREATE FUNCTION jobstats_internal.forget_again() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    again bigint;
    done record;
    found bigint := 0;
BEGIN
    FOR again IN SELECT jobstats_internal.come_back() LOOP
        done := jobstats_internal.forget_work_of(again);
        found := found + done.entries + done.jobs + done.names;
    END LOOP;
    -- No text is left that names them. What such an identifier does from now on is the work of somebody else.
    UPDATE jobstats.entries e SET name = jobstats_internal.name_for_ever(e.entry_id)
    FROM (
        SELECT jobstats_internal.pseudonym_of_user(f.uid, NULL::text) AS uid FROM jobstats.forgotten f WHERE f.until <= now()) f
    WHERE e.status = 'forgotten' AND (e.uid = f.uid OR EXISTS (
        SELECT FROM jobstats.entry_jobs m JOIN jobstats.job_ids i ON i.job_no = m.job_no WHERE m.entry_id = e.entry_id AND i.uid = f.uid));
    DELETE FROM jobstats.forgotten f WHERE f.until <= now();
    RETURN found;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_again() IS
'Internal: forgets once more the users of whom texts that are still kept have brought something back, and returns how much that was.';

-- Forgets who did what a long time ago: settings.personal_retention.

CREATE FUNCTION jobstats_internal.people_kept_for() RETURNS interval
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
-- Increments that are kept longer say whose they are as long.
SELECT greatest(s.personal_retention, s.retention) FROM jobstats.settings s
$$;
COMMENT ON FUNCTION jobstats_internal.people_kept_for() IS
'Internal: how long people are named after what they did.';

CREATE FUNCTION jobstats_internal.people_kept_since() RETURNS timestamptz
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT now() - jobstats_internal.people_kept_for()
$$;
COMMENT ON FUNCTION jobstats_internal.people_kept_since() IS
'Internal: the time before which nobody is named.';

CREATE FUNCTION jobstats_internal.forget_idle_entries(idle bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    recomputed timestamptz;
    level record;
BEGIN
    SELECT now() - s.jobs_retention INTO recomputed FROM jobstats.settings s;
    INSERT INTO jobstats.dirty_users (target_id, day)
    SELECT DISTINCT r.target_id, date_bin(interval '1 day', r.bucket - interval '1 microsecond', timestamptz 'epoch')
    FROM jobstats.rollup_1d r
    WHERE r.entry_id = ANY (idle) AND r.bucket > recomputed
    ON CONFLICT DO NOTHING;
    -- Sums of days whose jobs are gone cannot be computed again: they would lose accounts.
    FOR level IN
        SELECT l.level, o.owner FROM jobstats.rollups l, (VALUES ('users'), ('members')) AS o (owner) WHERE l.level IN ('1h', '1d')
    LOOP
        EXECUTE format('UPDATE jobstats.%I u SET uid = jobstats_internal.pseudonym_of_user(u.uid, NULL::text), user_name = NULL, gid = NULL, group_name = NULL
            FROM (SELECT DISTINCT r.target_id, r.bucket, e.uid
                FROM jobstats.rollup_1d r JOIN jobstats.entries e ON e.entry_id = r.entry_id
                WHERE r.entry_id = ANY ($1) AND r.bucket <= $2 AND e.uid IS NOT NULL) k
            WHERE u.target_id = k.target_id AND u.uid = k.uid AND u.bucket >= k.bucket AND u.bucket < k.bucket + interval ''1 day''',
            format('rollup_%s_%s', level.level, level.owner)) USING idle, recomputed;
    END LOOP;
    PERFORM jobstats_internal.forget_entries(idle, '{}'::text[], false);
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_idle_entries(bigint[]) IS
'Internal: takes from entries that have long done nothing whose they are.';

-- A job waits for its entries: they are matched by its number, and with its user.
CREATE FUNCTION jobstats_internal.old_jobs(before timestamptz, portion integer) RETURNS text[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT coalesce(array_agg(o.job), '{}')
FROM (
    SELECT j.job
    FROM (
        SELECT r.job, coalesce(r.ended, r.updated) AS ended, r.uid, num_nonnulls(r.user_name, r.job_name, r.node_list) > 0 AS is_named
        FROM jobstats.jobs r
        UNION ALL
        SELECT i.job, coalesce(i.ended, i.started), i.uid, num_nonnulls(i.user_name, i.job_name) > 0 FROM jobstats.job_ids i) j
    WHERE NOT EXISTS (SELECT FROM jobstats.entries e WHERE e.job = j.job AND e.status <> 'forgotten')
    GROUP BY j.job
    HAVING max(j.ended) < before AND bool_or(j.is_named OR j.uid <= 4294967295 AND jobstats_internal.is_person(j.uid))
    ORDER BY j.job
    LIMIT portion) o
$$;
COMMENT ON FUNCTION jobstats_internal.old_jobs(timestamptz, integer) IS
'Internal: numbers of jobs that name somebody, all of which ended before a time, and that no entry has which is not forgotten; at most so many.';

CREATE FUNCTION jobstats_internal.forget_old_jobs(before timestamptz, portion integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    old text[] := jobstats_internal.old_jobs(before, portion);
    numbers bigint[] := ARRAY(SELECT i.job_no FROM unnest(old) o (job) JOIN jobstats.job_ids i ON i.job = o.job);
    summaries bigint[] := ARRAY(
        SELECT s.job_no FROM jobstats.job_summaries s
        WHERE s.ended < before AND (s.uid <= 4294967295 AND jobstats_internal.is_person(s.uid) OR num_nonnulls(s.user_name, s.job_name) > 0)
            AND NOT EXISTS (SELECT FROM jobstats.job_ids i WHERE i.job_no = s.job_no)
        LIMIT portion);
BEGIN
    -- Of entries that name no user, the job does.
    INSERT INTO jobstats.dirty_users (target_id, day)
    SELECT DISTINCT r.target_id, date_bin(interval '1 day', r.bucket - interval '1 microsecond', timestamptz 'epoch')
    FROM jobstats.settings s, jobstats.entry_jobs m
    JOIN unnest(numbers) f (job_no) ON f.job_no = m.job_no
    JOIN jobstats.entries e ON e.entry_id = m.entry_id AND e.uid IS NULL
    JOIN jobstats.rollup_1d r ON r.entry_id = m.entry_id AND r.bucket > m.valid_from AND r.bucket <= m.valid_to
    WHERE r.bucket > now() - s.jobs_retention
    ON CONFLICT DO NOTHING;
    PERFORM jobstats_internal.forget_jobs(numbers, ARRAY(SELECT j.ctid FROM unnest(old) o (job) JOIN jobstats.jobs j ON j.job = o.job),
        '{}'::text[], NULL::bigint);
    UPDATE jobstats.entries e
    SET job = jobstats_internal.pseudonym(e.job), workload = coalesce(jobstats_internal.pseudonym(e.job), e.name)
    WHERE e.job = ANY (old) AND e.status = 'forgotten';
    -- Summaries are there longer than their jobs.
    PERFORM jobstats_internal.forget_jobs(summaries, '{}'::tid[], '{}'::text[], NULL::bigint);
    RETURN greatest(cardinality(old), cardinality(summaries));
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_old_jobs(timestamptz, integer) IS
'Internal: takes from jobs that ended before a time whose they were, of so many numbers and summaries at most, and returns of how many.';

CREATE FUNCTION jobstats_internal.forget_people() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    portion CONSTANT integer := 50000;
    named_since timestamptz := jobstats_internal.people_kept_since();
    found bigint := jobstats_internal.forget_again();
    jobs bigint;
BEGIN
    IF EXISTS (SELECT FROM jobstats.sweep s WHERE s.people_forgotten > now() - interval '1 day') THEN
        RETURN found;
    END IF;
    PERFORM jobstats_internal.lock_store();
    PERFORM FROM jobstats.locks l WHERE l.name = 'jobs' FOR UPDATE;
    jobs := jobstats_internal.forget_old_jobs(named_since, portion);
    PERFORM FROM jobstats.locks l WHERE l.name = 'names' FOR UPDATE;
    DELETE FROM jobstats.earlier_users u WHERE u.until < named_since;
    DELETE FROM jobstats.earlier_groups g WHERE g.until < named_since;
    -- Whom no text names any more, and no job or identifier.
    DELETE FROM jobstats.users u WHERE u.source = 'getent' AND u.seen > timestamptz '-infinity' AND u.seen < named_since;
    DELETE FROM jobstats.users u
    WHERE u.source = 'accounting' AND NOT EXISTS (SELECT FROM jobstats.jobs j WHERE j.uid = u.uid)
        AND NOT EXISTS (SELECT FROM jobstats.job_ids i WHERE i.uid = u.uid)
        AND NOT EXISTS (SELECT FROM jobstats.entries e WHERE e.uid = u.uid);
    DELETE FROM jobstats.groups g WHERE g.source = 'getent' AND g.seen > timestamptz '-infinity' AND g.seen < named_since;
    PERFORM jobstats_internal.forget_days_of_used(text 'user', NULL::bigint, named_since, NULL::bigint);
    PERFORM jobstats_internal.forget_culprits(NULL::bigint, NULL::text[], NULL::text[], '{}'::text[], named_since);
    -- The rest comes next time.
    IF jobs < portion THEN
        UPDATE jobstats.sweep s SET people_forgotten = now();
    END IF;
    RETURN found + jobs;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_people() IS
'Internal: forgets once more who was forgotten, and once a day whose what is older than settings.personal_retention was; returns the number of entries, jobs and names.';

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
            HINT = 'Nothing has changed. Keep the definitions of these, drop them, run jobstats_setup(), and make them again. '
                'Rows of rates and rollups are of (since, until]; the column "time" is gone.';
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
    -- The end of a row was called time.
    SELECT c.relname, CASE t.attname WHEN 'time' THEN 'until' ELSE t.attname END, a.privilege_type, a.grantee, a.is_grantable, c.relowner
    FROM pg_class c
    JOIN pg_attribute t ON t.attrelid = c.oid
    CROSS JOIN LATERAL aclexplode(t.attacl) a
    WHERE c.relnamespace = to_regnamespace('jobstats') AND c.relname = ANY (views)
) g
WHERE g.grantee <> g.relowner
$$;
COMMENT ON FUNCTION jobstats_internal.grants_on(text[]) IS
'Internal: the statements that grant again what others than their owner may do with views of the store.';

-- Reads a text again in a transaction of its own, so that one that fails does not keep the others from being read.
CREATE FUNCTION jobstats_internal.reread_guarded(
    cluster text, source text, server text, "time" timestamptz,
    OUT records integer, OUT problems integer, OUT changed integer, OUT problem text)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    SELECT r.* INTO records, problems, changed, problem FROM jobstats_internal.reread(cluster, source, server, "time") r;
EXCEPTION WHEN OTHERS THEN
    problem := SQLERRM;
END
$$;
COMMENT ON FUNCTION jobstats_internal.reread_guarded(text, text, text, timestamptz) IS
'Internal: what jobstats_internal.reread() does; an error becomes the problem.';

CREATE FUNCTION jobstats_internal.largest_subjects(rule text, operation text, "by" text, since timestamptz, until timestamptz, step interval) RETURNS TABLE (
    began timestamptz, ended timestamptz, cluster text, filesystem text, uid bigint, user_name text, account text, job text, rate double precision, share double precision
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC'
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT DISTINCT ON (r."time", r.cluster, r.filesystem) r."time", r."time" + r.seconds * interval '1 second', r.cluster, r.filesystem,
        r.uid, r.user_name, r.account, r.job, r.of_subject, r.of_subject / nullif(r.of_all, 0)
    FROM (
        SELECT r.*, sum(r.rate) OVER (PARTITION BY r."time", r.cluster, r.filesystem) AS of_all,
            -- root works for jobs too: the user is the one who did most of it.
            CASE largest_subjects."by" WHEN 'job' THEN sum(r.rate) OVER (PARTITION BY r."time", r.cluster, r.filesystem, r.job) ELSE r.rate END AS of_subject
        FROM @extschema@.jobstats_rates(largest_subjects.since, largest_subjects.until, ARRAY[largest_subjects.operation],
            '{cluster,filesystem}' || CASE largest_subjects."by" WHEN 'user' THEN '{uid,user_name}'::text[]
                WHEN 'job' THEN '{uid,user_name,job}' ELSE ARRAY[largest_subjects."by"] END, largest_subjects.step) r
    ) r
    WHERE r.filesystem IS NOT NULL AND r.rate IS NOT NULL AND CASE largest_subjects."by" WHEN 'job' THEN r.job IS NOT NULL ELSE num_nonnulls(r.uid, r.account) > 0 END
    ORDER BY r."time", r.cluster, r.filesystem, r.of_subject DESC, r.job, r.rate DESC, r.uid, r.account;
EXCEPTION WHEN invalid_parameter_value OR program_limit_exceeded THEN
    RAISE WARNING 'the rule "%" is not judged: %', rule, SQLERRM;
END
$$;
COMMENT ON FUNCTION jobstats_internal.largest_subjects(text, text, text, timestamptz, timestamptz, interval) IS
'Internal: the user, account or job that did most of an operation per second on each file system in each step of a span, and its part of all that was done. If the question fails, a warning names the rule that asked it.';

-- The range of each setting.

CREATE FUNCTION jobstats_forever() RETURNS interval
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN interval '100 years';
COMMENT ON FUNCTION jobstats_forever() IS
'Returns the retention of what is kept for ever. SELECT jobstats_setup(retention => jobstats_forever()); every retention of 100 years or more means the same.';

CREATE FUNCTION jobstats_internal.shown_retention(retention interval) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET intervalstyle = 'postgres'
AS $$
SELECT CASE WHEN retention < interval '100 years' THEN retention::text ELSE 'for ever' END
$$;
COMMENT ON FUNCTION jobstats_internal.shown_retention(interval) IS
'Internal: a retention for those who read it; NULL, as of a rollup, is for ever too.';

CREATE FUNCTION jobstats_internal.require_setting(name text, value text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET intervalstyle = 'postgres'
AS $$
DECLARE
    span record;
    number record;
    problem text;
    hint text;
BEGIN
    -- Maintenance subtracts a retention from now, and feeds count in microseconds. Both work with up to 1,000 years.
    SELECT s.* INTO span
    FROM (VALUES
        ('raw_retention', interval '1 microsecond', interval '1000 years', '2 days'),
        ('retention', '1 microsecond', '1000 years', '90 days'),
        ('rejects_retention', '1 microsecond', '1000 years', '14 days'),
        ('jobs_retention', '1 microsecond', '1000 years', '2 years'),
        ('personal_retention', '1 microsecond', '1000 years', '13 months'),
        ('events_retention', '1 microsecond', '1000 years', '2 years'),
        ('evidence_retention', '0', '1000 years', '30 days'),
        ('rollup_10m_retention', '1 microsecond', '1000 years', '90 days'),
        ('rollup_1h_retention', '1 microsecond', '1000 years', '2 years'),
        ('rollup_1d_retention', '1 microsecond', '1000 years', '10 years'),
        ('compress_after', '0', '1000 years', '7 days'),
        ('refresh_lag', '0', '1000 years', '20 minutes'),
        ('chunk_interval', '1 hour', '1 year', '1 day'),
        ('max_ahead', '0', '1 day', '5 minutes'),
        ('feed_wait', '100 milliseconds', '1 hour', '10 seconds'),
        ('node_timeout', '1 second', '1 hour', '2 minutes')
    ) AS s (name, least, most, example)
    WHERE s.name = require_setting.name;
    SELECT n.* INTO number
    FROM (VALUES ('max_text', 1, 1073741823), ('max_targets', 1, 2147483647), ('max_rate', 1, bigint '1099511627776'), ('fold_uids_below', 0, 4294967295)) AS n (name, least, most)
    WHERE n.name = require_setting.name;
    IF span.name IS NULL AND number.name IS NULL AND name <> 'metrics' THEN
        IF name = 'keep' AND (value IN ('everything', 'no detail', 'counts')) IS NOT TRUE THEN
            RAISE invalid_parameter_value USING MESSAGE = format('keep must be everything, no detail or counts, not %s', coalesce(value, 'NULL')),
                HINT = $hint$For calls and sums alone: UPDATE jobstats.settings SET keep = 'counts';$hint$;
        END IF;
        RETURN;
    ELSIF value IS NULL THEN
        RAISE null_value_not_allowed USING MESSAGE = format('%s must not be NULL', name),
            HINT = CASE WHEN name LIKE '%retention' THEN 'For ever is jobstats_forever().' ELSE 'Give a value.' END;
    ELSIF name = 'metrics' THEN
        IF jsonb_array_length(value::jsonb) > 100 OR EXISTS (
            SELECT FROM jsonb_array_elements_text(value::jsonb) AS p (pattern)
            WHERE (length(p.pattern) BETWEEN 1 AND 200) IS NOT TRUE)
        THEN
            RAISE invalid_parameter_value USING MESSAGE = 'metrics must be up to 100 patterns of 1 to 200 characters each',
                HINT = $hint$Give patterns of names such as '{node_rapl_*}'.$hint$;
        END IF;
        RETURN;
    ELSIF number.name IS NOT NULL THEN
        IF value::bigint NOT BETWEEN number.least AND number.most THEN
            RAISE invalid_parameter_value USING MESSAGE = format('%s must be from %s to %s, not %s', name, number.least, number.most, value),
                HINT = 'Give a number in this range.';
        END IF;
        RETURN;
    ELSIF value::interval < span.least THEN
        problem := CASE WHEN span.least = interval '1 microsecond' THEN 'positive' ELSE format('at least %s', span.least) END;
    ELSIF value::interval > span.most THEN
        problem := format('at most %s', span.most);
    ELSE
        RETURN;
    END IF;
    hint := format('Give a span of time such as %L', span.example);
    IF name LIKE '%retention' THEN
        hint := hint || '; for ever is jobstats_forever()';
    END IF;
    RAISE invalid_parameter_value USING MESSAGE = format('%s must be %s, not %s', name, problem, value), HINT = hint || '.';
END
$$;
COMMENT ON FUNCTION jobstats_internal.require_setting(text, text) IS
'Internal: fails with 22023 for a value that feeds or maintenance could not compute with, with 22004 for NULL.';

-- What setup replaces may be read by a query that began long ago. A setup that waited for it would make all feeds and readers wait behind
-- itself. So setup waits for less than a second, gives up all that it has locked and done, and begins again.
CREATE FUNCTION jobstats_setup(
    raw_retention interval DEFAULT NULL,
    retention interval DEFAULT NULL,
    rejects_retention interval DEFAULT NULL,
    rollup_10m_retention interval DEFAULT NULL,
    rollup_1h_retention interval DEFAULT NULL,
    rollup_1d_retention interval DEFAULT NULL,
    chunk_interval interval DEFAULT NULL,
    compress_after interval DEFAULT NULL,
    refresh_lag interval DEFAULT NULL,
    metrics text[] DEFAULT NULL,
    node integer DEFAULT NULL
) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    limit_of_caller interval := current_setting('lock_timeout')::interval;
    began timestamptz := clock_timestamp();
    told timestamptz := began;
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
            ELSIF clock_timestamp() > told + interval '30 seconds' THEN
                told := clock_timestamp();
                RAISE NOTICE USING
                    MESSAGE = format('waiting for sessions that use the store: %s', jobstats_internal.sessions_on_store()),
                    HINT = 'SELECT pg_terminate_backend(…) ends one.';
            END IF;
        END;
        -- Feeds get more time than they had to wait.
        PERFORM pg_sleep(1);
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_setup IS
'Creates the store, or brings it up to date. The store is in the schema jobstats; setup may be run again at any time. A setting that is NULL stays as it is (at first: raw text 2 days, increments 90 days, rejects 14 days; rollups of ten minutes 90 days, of hours 2 years, of days for ever, which is jobstats_forever(), each at least as long as what it sums; with TimescaleDB chunks of 1 day, in the Community edition kept in columns after 7 days; rollups stay 20 minutes behind; no metrics of the source openmetrics, which are chosen by patterns of their names, with *; number 0 among the nodes of a front, of up to 32766: another one changes all rows of a store that has some). Returns what was chosen and how to schedule maintenance. Errors: 0A000 where the database is not UTF8, 25006 on a standby, 55000 where a foreign schema jobstats is in the way, for a front, and for another number during a conversion, 22023 for a setting that is out of range, 23514 for settings that contradict each other, 55P03 where a lock takes longer than lock_timeout, if that is set.';

CREATE FUNCTION jobstats_internal.sessions_on_store() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT string_agg(DISTINCT l.pid::text, ', ')
FROM pg_locks l
JOIN pg_class c ON c.oid = l.relation AND c.relnamespace = to_regnamespace('jobstats')
WHERE l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()) AND l.pid <> pg_backend_pid()
$$;
COMMENT ON FUNCTION jobstats_internal.sessions_on_store() IS
'Internal: the sessions that hold or want locks on relations of the store; NULL: none.';

CREATE FUNCTION jobstats_internal.sum_add(internal, bigint, bigint, bigint) RETURNS internal
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'jobstats-0.2.0', 'jobstats_sum_add';
COMMENT ON FUNCTION jobstats_internal.sum_add(internal, bigint, bigint, bigint) IS
'Internal: of jobstats_internal.sum, jobstats_internal.sum_of_rates and jobstats_internal.any.';

CREATE FUNCTION jobstats_internal.sum_add(internal, numeric, bigint, bigint) RETURNS internal
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'jobstats-0.2.0', 'sum_add_numeric_wrapper';
COMMENT ON FUNCTION jobstats_internal.sum_add(internal, numeric, bigint, bigint) IS
'Internal: of jobstats_internal.sum, jobstats_internal.sum_of_rates and jobstats_internal.any.';

CREATE FUNCTION jobstats_internal.sum_finish(internal) RETURNS numeric
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'sum_finish_wrapper';
COMMENT ON FUNCTION jobstats_internal.sum_finish(internal) IS 'Internal: of jobstats_internal.sum.';

CREATE FUNCTION jobstats_internal.sum_of_rates_finish(internal) RETURNS double precision
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'jobstats-0.2.0', 'sum_of_rates_finish_wrapper';
COMMENT ON FUNCTION jobstats_internal.sum_of_rates_finish(internal) IS 'Internal: of jobstats_internal.sum_of_rates.';

CREATE AGGREGATE jobstats_internal.sum(value bigint, observed bigint, scale bigint) (
    SFUNC = jobstats_internal.sum_add, STYPE = internal, FINALFUNC = jobstats_internal.sum_finish, SSPACE = 80, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_internal.sum(bigint, bigint, bigint) IS
'Internal: the exact sum of all values; takes what jobstats_internal.sum_of_rates does.';
CREATE AGGREGATE jobstats_internal.sum(value numeric, observed bigint, scale bigint) (
    SFUNC = jobstats_internal.sum_add, STYPE = internal, FINALFUNC = jobstats_internal.sum_finish, SSPACE = 80, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_internal.sum(numeric, bigint, bigint) IS
'Internal: the exact sum of all values, which are whole; takes what jobstats_internal.sum_of_rates does.';
CREATE AGGREGATE jobstats_internal.sum_of_rates(value bigint, observed bigint, scale bigint) (
    SFUNC = jobstats_internal.sum_add, STYPE = internal, FINALFUNC = jobstats_internal.sum_of_rates_finish, SSPACE = 80,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_internal.sum_of_rates(bigint, bigint, bigint) IS
'Internal: the sum of scale * value / observed, rounded once; observed is in microseconds, scale the same in all rows.';
CREATE AGGREGATE jobstats_internal.sum_of_rates(value numeric, observed bigint, scale bigint) (
    SFUNC = jobstats_internal.sum_add, STYPE = internal, FINALFUNC = jobstats_internal.sum_of_rates_finish, SSPACE = 80,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_internal.sum_of_rates(numeric, bigint, bigint) IS
'Internal: the sum of scale * value / observed, where values are whole, rounded once; observed is in microseconds, scale the same in all rows.';
CREATE AGGREGATE jobstats_internal.any(value bigint, observed bigint, scale bigint) (
    SFUNC = jobstats_internal.sum_add, STYPE = internal, FINALFUNC = jobstats_internal.any_finish, SSPACE = 80, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_internal.any(bigint, bigint, bigint) IS
'Internal: whether the sum of all values is not zero; takes what jobstats_internal.sum_of_rates does.';
CREATE AGGREGATE jobstats_internal.any(value numeric, observed bigint, scale bigint) (
    SFUNC = jobstats_internal.sum_add, STYPE = internal, FINALFUNC = jobstats_internal.any_finish, SSPACE = 80, PARALLEL = SAFE
);
COMMENT ON AGGREGATE jobstats_internal.any(numeric, bigint, bigint) IS
'Internal: whether the sum of all values, which are whole, is not zero; takes what jobstats_internal.sum_of_rates does.';

-- Deletes entries that neither increments nor rollups refer to, and forgets whose those are that have long been idle. It goes through the entries in the order of their keys,
-- a batch per transaction.

CREATE FUNCTION jobstats_internal.unused_entries(candidates bigint[], low bigint, high bigint, since timestamptz) RETURNS SETOF bigint
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    unsummed timestamptz;
BEGIN
    -- Increments that are older than this are in the rollups.
    SELECT least(l.refreshed, (SELECT min(d.span_from) FROM jobstats.dirty d)) INTO unsummed
    FROM jobstats.rollups l WHERE l.level = '10m';
    -- One condition on all keys lets TimescaleDB read columnar chunks in parts.
    RETURN QUERY
    SELECT c.entry_id
    FROM unnest(candidates) AS c (entry_id)
    WHERE NOT EXISTS (SELECT FROM jobstats.increments i WHERE i."time" > unsummed AND i.entry_id = c.entry_id)
        AND NOT EXISTS (SELECT FROM jobstats.rollup_1d r
            WHERE r.entry_id = c.entry_id AND r.entry_id > low AND r.entry_id <= high AND r.bucket >= since)
        AND NOT EXISTS (SELECT FROM jobstats.rollup_1h r
            WHERE r.entry_id = c.entry_id AND r.entry_id > low AND r.entry_id <= high AND r.bucket >= since)
        AND NOT EXISTS (SELECT FROM jobstats.rollup_10m r
            WHERE r.entry_id = c.entry_id AND r.entry_id > low AND r.entry_id <= high AND r.bucket >= since);
END
$$;
COMMENT ON FUNCTION jobstats_internal.unused_entries(bigint[], bigint, bigint, timestamptz) IS
'Internal: which of these entries, whose keys lie in (low, high], nothing refers to that is of a time since then.';

CREATE FUNCTION jobstats_internal.sweep_entries(horizon timestamptz, people_since timestamptz) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    batch CONSTANT integer := 10000;
    low bigint;
    high bigint;
    seen integer;
    candidates bigint[];
    idle bigint[];
    tries integer := 0;
    gone bigint := 0;
BEGIN
    SELECT coalesce(s.after, -9223372036854775808) INTO low FROM jobstats.sweep s;
    SELECT count(*), max(e.entry_id), array_agg(e.entry_id) FILTER (WHERE e.first_seen < horizon),
        array_agg(e.entry_id) FILTER (WHERE e.first_seen < people_since AND e.status <> 'forgotten')
    INTO seen, high, candidates, idle
    FROM (SELECT e.entry_id, e.first_seen, e.status FROM jobstats.entries e WHERE e.entry_id > low ORDER BY e.entry_id LIMIT batch) e;
    SELECT array_agg(u.entry_id) INTO candidates FROM jobstats_internal.unused_entries(candidates, low, high, timestamptz '-infinity') AS u (entry_id);
    idle := ARRAY(SELECT jobstats_internal.unused_entries(idle, low, high, people_since));
    IF candidates IS NOT NULL OR idle <> '{}' THEN
        -- Feeds that have found one of these entries must have committed. Later feeds check whether the entry is
        -- still there, and do not wait.
        LOOP
            PERFORM FROM jobstats.locks l WHERE l.name = 'entries' FOR UPDATE SKIP LOCKED;
            EXIT WHEN FOUND;
            tries := tries + 1;
            IF tries = 100 THEN
                RETURN NULL;
            END IF;
            PERFORM pg_sleep(0.01);
        END LOOP;
        -- Who matches jobs locks entries in the same order.
        PERFORM FROM jobstats.entries e WHERE e.entry_id = ANY (candidates || idle) ORDER BY e.entry_id FOR UPDATE;
        WITH deleted AS (
            DELETE FROM jobstats.entries e
            WHERE e.entry_id IN (SELECT jobstats_internal.unused_entries(candidates, low, high, timestamptz '-infinity'))
            RETURNING e.entry_id
        ), unmatched AS (
            DELETE FROM jobstats.entry_jobs j USING deleted d WHERE j.entry_id = d.entry_id
        )
        SELECT count(*) INTO gone FROM deleted d;
        -- Now that no feed relies on what it has found.
        idle := ARRAY(SELECT jobstats_internal.unused_entries(ARRAY(SELECT unnest(idle) EXCEPT SELECT unnest(candidates)), low, high, people_since));
        PERFORM jobstats_internal.forget_idle_entries(idle);
        gone := gone + cardinality(idle);
    END IF;
    UPDATE jobstats.sweep s
    SET after = CASE WHEN seen = batch THEN high END, ended = CASE WHEN seen = batch THEN s.ended ELSE now() END,
        deleted = s.deleted + gone;
    RETURN gone;
END
$$;
COMMENT ON FUNCTION jobstats_internal.sweep_entries(timestamptz, timestamptz) IS
'Internal: deletes those of the next 10,000 entries that were first seen before the horizon and that nothing refers to, and takes from those that have been idle since another time whose they are; returns their number, NULL where feeds are in the way.';

CREATE FUNCTION jobstats_internal.sweep() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    horizon timestamptz := (SELECT min(l.dropped) FROM jobstats.rollups l);
    people_since timestamptz := jobstats_internal.people_kept_since();
BEGIN
    -- One pass per day.
    IF horizon = timestamptz 'epoch' AND NOT EXISTS (SELECT FROM jobstats.rollup_1d r WHERE r.bucket < people_since) OR EXISTS (
        SELECT FROM jobstats.sweep s WHERE s.after IS NULL AND s.ended > now() - interval '1 day')
    THEN
        RETURN NULL;
    END IF;
    PERFORM jobstats_internal.lock_store();
    RETURN coalesce(jobstats_internal.sweep_entries(horizon, people_since), -1);
END
$$;
COMMENT ON FUNCTION jobstats_internal.sweep() IS
'Internal: deletes entries of the next batch that nothing refers to any more, and returns their number; NULL: there is nothing to look through, -1: feeds are in the way.';

-- The last observation of each target at a time. PostgreSQL puts a call of this function into the statement that calls it, so that what
-- nobody asks for is not computed, and conditions choose the targets that are looked at. A clause SET would prevent that.
CREATE FUNCTION jobstats_targets(at timestamptz DEFAULT NULL) RETURNS TABLE (
    target_id integer, cluster text, filesystem text, kind text, target text, server text, since timestamptz, "time" timestamptz,
    usual_interval interval, entries integer, problems integer, added integer, resets integer, removed integer,
    before timestamptz, after timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
SELECT known.target_id, known.cluster, known.filesystem, known.kind, known.name, last.server,
    CASE WHEN last.since IS NOT NULL THEN greatest(last.since, last."time" - interval '1 hour') END, last."time",
    CASE WHEN at IS NULL THEN newest.usual_interval ELSE (
        SELECT percentile_disc(0.5::double precision) WITHIN GROUP (ORDER BY recent."time" - recent.since)
        FROM (
            SELECT o."time", o.since FROM jobstats.observations o
            WHERE o.target_id = known.target_id AND o."time" > last."time" - interval '1 day' AND o."time" <= last."time"
            ORDER BY o."time" DESC LIMIT 10
        ) recent
    ) END,
    last.entries, last.problems, last.added, last.resets, last.removed,
    CASE WHEN at IS NULL THEN newest.before ELSE (
        SELECT o."time" FROM jobstats.observations o
        WHERE o.target_id = known.target_id AND o."time" <= at
        ORDER BY o."time" DESC LIMIT 1
    ) END,
    CASE WHEN at IS NULL THEN newest.after ELSE (
        SELECT o."time" FROM jobstats.observations o
        WHERE o.target_id = known.target_id AND o."time" > at
        ORDER BY o."time" LIMIT 1
    ) END
FROM (
    -- TimescaleDB knows no later times than these.
    SELECT CASE WHEN at > timestamptz '294246-01-01 00:00Z' THEN timestamptz '294246-01-01 00:00Z' ELSE at END AS at
) asked
CROSS JOIN jobstats.targets known
LEFT JOIN jobstats.last_observations newest ON newest.target_id = known.target_id AND at IS NULL
LEFT JOIN LATERAL (
    SELECT newest.server, newest.since, newest."time", newest.entries, newest.problems, newest.added, newest.resets, newest.removed WHERE at IS NULL
    UNION ALL
    (
        SELECT o.server, o.since, o."time", o.entries, o.problems, o.added, o.resets, o.removed FROM jobstats.observations o
        WHERE o.target_id = known.target_id AND (known.retired IS NULL OR at <= known.retired)
            AND o."time" > at - interval '24 hours' AND o."time" <= at
        ORDER BY o."time" DESC LIMIT 1
    )
) last ON true
$$;
COMMENT ON FUNCTION jobstats_targets(timestamptz) IS
'Lists the targets with their last observation, now or at a time. One row per target that was ever observed. time is that of the last observation up to at (NULL: now) and, with all that comes from it, NULL if the target had not been observed for a day or was retired before. since is the time of the observation before, or an hour before time if that is later; NULL for a first observation, with which nothing can be compared. usual_interval is the median of the last ten intervals between observations. before is the last observation up to at, however long ago that was, and after the first one later; NULL where the store has none. Errors: 42P01 where there is no store.';

-- Texts of people and jobs, and the spans of time of which accounting has been read.

CREATE FUNCTION jobstats_internal.covers(cluster text, source text, since timestamptz, until timestamptz) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT EXISTS (
    SELECT FROM jobstats.covered c
    WHERE (covers.cluster IS NULL OR c.cluster = covers.cluster) AND (covers.source IS NULL OR c.source = covers.source)
        AND c.since <= covers.since AND c.until >= covers.until)
$$;
COMMENT ON FUNCTION jobstats_internal.covers(text, text, timestamptz, timestamptz) IS
'Internal: whether accounting of a cluster and a source (NULL: of any) has been read for all of a span.';

CREATE FUNCTION jobstats_internal.forget_texts(horizon timestamptz) RETURNS bigint
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
COMMENT ON FUNCTION jobstats_internal.forget_texts(timestamptz) IS
'Internal: deletes texts that were received before the horizon, and returns their number. The last text of a growing file stays without its body.';

CREATE FUNCTION jobstats_internal.forget_covered(horizon timestamptz) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DELETE FROM jobstats.covered c WHERE c.until < horizon;
UPDATE jobstats.covered c SET since = horizon WHERE c.since < horizon
$$;
COMMENT ON FUNCTION jobstats_internal.forget_covered(timestamptz) IS
'Internal: forgets that accounting was read of the time before the horizon, of which jobs are deleted.';

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
        AND p.proname IN ('add_job', 'compress_chunk', 'create_hypertable', 'decompress_chunk', 'drop_chunks', 'hypertable_size', 'refresh_continuous_aggregate',
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
    ELSIF current_setting('timescaledb.license', true) IS DISTINCT FROM 'timescale' THEN
        RETURN QUERY EXECUTE $sql$
            SELECT h.hypertable_name::text, format('%I.%I', h.hypertable_schema, h.hypertable_name)::regclass, NULL::text
            FROM timescaledb_information.hypertables h WHERE h.hypertable_schema = 'jobstats'
        $sql$;
        RETURN;
    END IF;
    RETURN QUERY EXECUTE $sql$
        SELECT t.relation::text, t.hypertable, CASE WHEN t.is_packed THEN c.orderby END
        FROM (
            SELECT h.hypertable_name, format('%I.%I', h.hypertable_schema, h.hypertable_name)::regclass, h.compression_enabled
            FROM timescaledb_information.hypertables h WHERE h.hypertable_schema = 'jobstats'
            UNION ALL
            SELECT a.view_name, format('%I.%I', a.materialization_hypertable_schema, a.materialization_hypertable_name)::regclass,
                a.compression_enabled
            FROM timescaledb_information.continuous_aggregates a WHERE a.view_schema = 'jobstats'
        ) AS t (relation, hypertable, is_packed)
        LEFT JOIN timescaledb_information.hypertable_compression_settings c ON c.hypertable = t.hypertable
    $sql$;
END
$$;
COMMENT ON FUNCTION jobstats_internal.hypertables() IS
'Internal: the relations of the store that are hypertables of TimescaleDB or continuous aggregates, with the hypertable that holds their rows, and the order in which their old chunks are packed; NULL: they stay in rows.';

-- Rollups are refreshed in steps, a transaction each: announce the new horizon, wait for the feeds that do not know it,
-- compute. The views read what is not computed yet from increments. The functions here are steps of jobstats_maintain();
-- steps.sql defines their order and handles failures.

CREATE FUNCTION jobstats_internal.bucket(width interval, instant timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN pg_catalog.date_bin(width, instant, timestamptz '1970-01-01 00:00:00+00');
COMMENT ON FUNCTION jobstats_internal.bucket(interval, timestamptz) IS
'Internal: the start of the bucket of a rollup that an instant lies in.';

CREATE FUNCTION jobstats_internal.dirty_buckets(width interval, by_user boolean, refreshed timestamptz)
RETURNS TABLE (target_id integer, buckets tstzrange)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT d.target_id, unnest(range_agg(tstzrange(
    jobstats_internal.bucket(width, d.span_from),
    least(refreshed, jobstats_internal.bucket(width, d.span_to - interval '1 microsecond') + width),
    text '(]')))
FROM (
    SELECT n.target_id, n.span_from, n.span_to FROM jobstats.dirty n WHERE n.known
    UNION ALL
    SELECT u.target_id, u.day, u.day + interval '24 hours' FROM jobstats.dirty_users u WHERE by_user
) d
WHERE d.span_from < refreshed
GROUP BY d.target_id
$$;
COMMENT ON FUNCTION jobstats_internal.dirty_buckets(interval, boolean, timestamptz) IS
'Internal: the buckets of a width, up to where they are computed, that the known rows of jobstats.dirty and, for sums by user, those of jobstats.dirty_users touch, by target.';

CREATE FUNCTION jobstats_internal.announce() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- No new announcement while feeds from before the last one may still be running: feeds of two announcements
    -- could not be waited for.
    UPDATE jobstats.refresh r
    SET number = r.number + 1, announced = greatest(r.announced, n.announced), horizon = greatest(r.horizon, n.horizon)
    FROM (
        SELECT jobstats_internal.bucket(interval '10 minutes', now() - s.refresh_lag),
            jobstats_internal.bucket(interval '1 day', now() - s.retention)
        FROM jobstats.settings s) AS n (announced, horizon)
    WHERE r.settled = r.number AND (r.announced < n.announced OR r.horizon < n.horizon);
    INSERT INTO jobstats.locks SELECT 'announcement ' || r.number FROM jobstats.refresh r ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION jobstats_internal.announce() IS
'Internal: says up to when rollups will be computed. Feeds that begin from now on note in jobstats.dirty what they change before that.';

CREATE FUNCTION jobstats_internal.settle() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- A feed holds a share lock on the row of the announcement that it knows.
    PERFORM FROM jobstats.refresh r JOIN jobstats.locks l ON l.name = 'announcement ' || r.settled
    WHERE r.settled < r.number
    FOR UPDATE OF l;
    UPDATE jobstats.refresh r SET settled = r.number;
    DELETE FROM jobstats.locks l USING jobstats.refresh r
    WHERE l.name LIKE 'announcement %' AND l.name <> 'announcement ' || r.number;
    -- Nobody reads sums by user from now on if the setting keep leaves them out.
    UPDATE jobstats.rollups l SET users_refreshed = timestamptz 'epoch'
    FROM jobstats.settings s
    WHERE s.keep = 'counts' AND l.users_refreshed > timestamptz 'epoch';
    -- Events in these spans are judged again.
    UPDATE jobstats.watch w SET rejudge_from = least(w.rejudge_from, d.since)
    FROM (SELECT min(n.span_from) AS since FROM jobstats.dirty n WHERE NOT n.known AND n.problem IS NULL) d
    WHERE d.since < w.watched_until;
    -- The changes that these rows note are committed, so everything that is computed from now on includes them.
    UPDATE jobstats.dirty d SET known = true WHERE NOT d.known;
END
$$;
COMMENT ON FUNCTION jobstats_internal.settle() IS
'Internal: waits for the feeds that do not know of the last announcement, as long as lock_timeout allows.';

CREATE FUNCTION jobstats_internal.refreshed(level text, by_user boolean) RETURNS timestamptz
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN by_user THEN l.users_refreshed ELSE l.refreshed END FROM jobstats.rollups l WHERE l.level = refreshed.level
$$;
COMMENT ON FUNCTION jobstats_internal.refreshed(text, boolean) IS
'Internal: up to where a rollup, or its sums by user, are computed.';

CREATE FUNCTION jobstats_internal.is_aggregate(level text, by_user boolean) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT NOT by_user AND EXISTS (SELECT FROM pg_class c WHERE c.oid = to_regclass('jobstats.rollup_' || level) AND c.relkind = 'v')
$$;
COMMENT ON FUNCTION jobstats_internal.is_aggregate(text, boolean) IS
'Internal: whether a rollup is a continuous aggregate of TimescaleDB; its sums by user are a table everywhere.';

CREATE FUNCTION jobstats_internal.next_dirty(level text, by_user boolean, after_target integer, after timestamptz, n integer)
RETURNS TABLE (target_id integer, span_from timestamptz, span_to timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT s.target_id, lower(s.buckets), upper(s.buckets)
FROM (
    -- A continuous aggregate is refreshed for all targets at once.
    SELECT NULL::integer AS target_id, unnest(range_agg(d.buckets)) AS buckets
    FROM jobstats.rollups l
    CROSS JOIN LATERAL jobstats_internal.dirty_buckets(l.width, by_user, jobstats_internal.refreshed(level, by_user)) d
    WHERE l.level = next_dirty.level AND jobstats_internal.is_aggregate(level, by_user)
    UNION ALL
    SELECT d.target_id, d.buckets
    FROM jobstats.rollups l
    CROSS JOIN LATERAL jobstats_internal.dirty_buckets(l.width, by_user, jobstats_internal.refreshed(level, by_user)) d
    WHERE l.level = next_dirty.level AND NOT jobstats_internal.is_aggregate(level, by_user) AND upper(d.buckets) > l.dropped
) s
WHERE after IS NULL OR (coalesce(s.target_id, 0), lower(s.buckets)) > (coalesce(after_target, 0), after)
ORDER BY coalesce(s.target_id, 0), lower(s.buckets)
LIMIT n
$$;
COMMENT ON FUNCTION jobstats_internal.next_dirty(text, boolean, integer, timestamptz, integer) IS
'Internal: the next n spans of a rollup, or of its sums by user, that are to be computed anew, in the order of target and time; target_id NULL: for all targets.';

CREATE FUNCTION jobstats_internal.next_day(level text, by_user boolean, OUT span_from timestamptz, OUT span_to timestamptz)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    rollup jobstats.rollups;
    high timestamptz;
BEGIN
    SELECT * INTO STRICT rollup FROM jobstats.rollups l WHERE l.level = next_day.level;
    span_from := jobstats_internal.refreshed(level, by_user);
    IF by_user THEN
        high := rollup.refreshed;
        IF span_from = timestamptz 'epoch' AND high > span_from THEN
            EXECUTE format('SELECT coalesce(date_bin(interval ''1 day'', min(r.bucket), timestamptz ''epoch''), $1) FROM jobstats.%I r',
                'rollup_' || level) INTO span_from USING high;
            UPDATE jobstats.rollups l SET users_refreshed = span_from WHERE l.level = next_day.level;
        END IF;
    ELSE
        SELECT jobstats_internal.bucket(rollup.width, r.announced) INTO high FROM jobstats.refresh r;
        IF span_from = timestamptz 'epoch' THEN
            SELECT coalesce(jobstats_internal.bucket(rollup.width, greatest(min(o."time"), min(r.dropped))), high) INTO span_from
            FROM jobstats.refresh r
            CROSS JOIN jobstats.targets t
            CROSS JOIN LATERAL (
                SELECT f."time" FROM jobstats.observations f
                WHERE f.target_id = t.target_id ORDER BY f."time" LIMIT 1) o;
        END IF;
    END IF;
    IF span_from >= high THEN
        span_from := NULL;
    ELSE
        span_from := jobstats_internal.skip_empty_days(level, by_user, span_from, high);
        -- Not all at once: that keeps rows in the order of their buckets, and limits the work of one transaction.
        span_to := jobstats_internal.days_at_once(level, by_user, span_from, high);
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.next_day(text, boolean) IS
'Internal: the next day, what is left of one, or several days of few rows, that a rollup, or its sums by user, lack; NULL: none.';

CREATE FUNCTION jobstats_internal.set_refreshed(level text, by_user boolean, instant timestamptz) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
UPDATE jobstats.rollups l
SET refreshed = CASE WHEN by_user THEN l.refreshed ELSE greatest(l.refreshed, instant) END,
    users_refreshed = CASE WHEN by_user THEN greatest(l.users_refreshed, instant) ELSE l.users_refreshed END
WHERE l.level = set_refreshed.level
$$;
COMMENT ON FUNCTION jobstats_internal.set_refreshed(text, boolean, timestamptz) IS
'Internal: says that a rollup, or its sums by user, are computed up to an instant.';

CREATE FUNCTION jobstats_internal.give_up(span_from timestamptz, span_to timestamptz, target_id integer, problem text) RETURNS bigint
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
WITH noted AS (
    INSERT INTO jobstats.dirty (target_id, span_from, span_to, problem)
    SELECT t.target_id, give_up.span_from, give_up.span_to, give_up.problem
    FROM jobstats.targets t
    WHERE (give_up.target_id IS NULL OR t.target_id = give_up.target_id) AND EXISTS (
        SELECT FROM jobstats.increments i
        WHERE i.target_id = t.target_id AND i."time" > give_up.span_from AND i."time" <= give_up.span_to)
    RETURNING 1
)
SELECT count(*) FROM noted
$$;
COMMENT ON FUNCTION jobstats_internal.give_up(timestamptz, timestamptz, integer, text) IS
'Internal: notes that a span of the targets that did something in it, or of one, cannot be summed: what is asked of it is read from increments, and the next maintenance tries again. Returns the number of targets.';

-- TimescaleDB commits during a refresh, which neither a function nor EXECUTE can do. So this procedure runs with the
-- rights of the caller, and its search_path names the schema of TimescaleDB.
CREATE PROCEDURE jobstats_internal.refresh_aggregate(relation text, span_from timestamptz, span_to timestamptz)
LANGUAGE plpgsql
AS $$
DECLARE
    aggregate pg_catalog.regclass;
    low pg_catalog.timestamptz;
    high pg_catalog.timestamptz;
    verbosity pg_catalog.text;
    statements pg_catalog.text;
BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    -- TimescaleDB logs two messages for each span, each with the statement and five lines of context. They fit one line each
    -- where the role may set that. The settings are those of the session, because the refresh commits.
    IF has_parameter_privilege(text 'log_error_verbosity', text 'SET') AND has_parameter_privilege(text 'log_min_error_statement', text 'SET') THEN
        verbosity := current_setting('log_error_verbosity');
        statements := current_setting('log_min_error_statement');
        PERFORM set_config('log_error_verbosity', 'terse', false), set_config('log_min_error_statement', 'fatal', false);
    END IF;
    aggregate := format('jobstats.%I', relation);
    low := span_from + interval '1 microsecond';
    high := span_to + interval '1 microsecond';
    PERFORM set_config('search_path', 'pg_catalog, ' || jobstats_internal.timescale_schema() || ', pg_temp', true);
    -- The arguments have exactly the types of the procedure, so that no overload in another schema fits better.
    IF to_regprocedure('refresh_continuous_aggregate(regclass, "any", "any", boolean, jsonb)') IS NULL THEN
        CALL refresh_continuous_aggregate(aggregate, low, high);
    ELSE
        -- TimescaleDB 2.28 would divide ten days into 144 refreshes, each of which is planned for all chunks.
        CALL refresh_continuous_aggregate(aggregate, low, high, false, jsonb '{"buckets_per_batch": 0}');
    END IF;
    IF verbosity IS NOT NULL THEN
        PERFORM pg_catalog.set_config('log_error_verbosity', verbosity, false),
            pg_catalog.set_config('log_min_error_statement', statements, false);
    END IF;
END
$$;
COMMENT ON PROCEDURE jobstats_internal.refresh_aggregate(text, timestamptz, timestamptz) IS
'Internal: computes buckets of a rollup that is a continuous aggregate.';

-- The parts of the store's tables: columns, keys, indexes and triggers. jobstats_setup() creates the tables once more, empty and
-- in a schema of their own, from the same definitions, and keeps their parts in jobstats.parts. What jobstats.parts names and
-- the store does not have is damage.

-- Definitions look as settings of the session want them, and are compared with those that another session noted.
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
-- Functions of the triggers of the store are in its schema; while it is converted there are more.
SELECT c.relname, 'trigger', g.tgname, ''
FROM pg_class c
JOIN pg_trigger g ON g.tgrelid = c.oid AND NOT g.tgisinternal AND g.tgenabled <> 'D' AND g.tgname !~ '^converting_'
JOIN pg_proc p ON p.oid = g.tgfoid AND p.pronamespace = c.relnamespace
WHERE c.relnamespace = to_regnamespace(parts.schema)
$$;
COMMENT ON FUNCTION jobstats_internal.parts(text) IS
'Internal: the columns, keys, indexes and triggers of the tables in a schema, with the definitions by which they can be made.';

CREATE FUNCTION jobstats_internal.damage() RETURNS TABLE (relation text, kind text, name text, statement text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- A store of an earlier version has no list yet.
    IF to_regclass('jobstats.parts') IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH held AS MATERIALIZED (
        SELECT h.* FROM jobstats_internal.parts(text 'jobstats') h
    ), missing AS (
        SELECT p.* FROM jobstats.parts p
        LEFT JOIN pg_class c ON c.oid = to_regclass(format('jobstats.%I', p.relation))
        -- A table that has been converted to a continuous aggregate has other parts.
        WHERE (p.kind = 'trigger' OR c.relkind IS DISTINCT FROM 'v') AND NOT EXISTS (
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
    -- Tables that grow with time are divided by it, and a rollup that is a view is a continuous aggregate.
    SELECT c.relname, CASE c.relkind WHEN 'v' THEN 'continuous aggregate' ELSE 'hypertable' END, c.relname, NULL
    FROM pg_class c
    WHERE c.relnamespace = to_regnamespace('jobstats')
        AND (c.relname ~ '^rollup_[0-9]+[a-z](_users|_accounts|_members|_targets)?$' AND c.relkind IN ('r', 'v')
            OR c.relname IN (SELECT g.relation FROM jobstats_internal.growing_tables() g) AND c.relkind = 'r')
        AND NOT EXISTS (SELECT FROM jobstats_internal.hypertables() h WHERE h.relation = c.relname)
    ORDER BY 1, 2, 3;
END
$$;
COMMENT ON FUNCTION jobstats_internal.damage() IS
'Internal: what tables of the store lack, by what jobstats.parts says of them, and the statement that makes it; NULL: none does.';

CREATE FUNCTION jobstats_internal.damage_in_words() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT string_agg(CASE WHEN d.kind = 'table' THEN format('the table %s is missing', d.relation)
    WHEN d.kind IN ('hypertable', 'continuous aggregate') THEN format('%s is no %s any more', d.relation, d.kind)
    ELSE format('%s lacks the %s %s', d.relation, d.kind, d.name) END, ', ' ORDER BY d.relation, d.kind, d.name)
FROM jobstats_internal.damage() d
$$;
COMMENT ON FUNCTION jobstats_internal.damage_in_words() IS
'Internal: what tables of the store lack, for those who read it; NULL: nothing.';

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
            RAISE WARNING '% lacks the % %, which cannot be made: %', it.relation, it.kind, it.name, SQLERRM
                USING HINT = format('Mend this, and then run %s;', it.statement);
        END;
    END LOOP;
    RETURN nullif(array_to_string(mended, ', '), '');
END
$$;
COMMENT ON FUNCTION jobstats_internal.mend() IS
'Internal: makes what tables of the store lack, where that is possible, and returns what it made; NULL: nothing. A warning says what cannot be made.';

CREATE FUNCTION jobstats_internal.lost_increments() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
-- An observation says how many entries have increments of it. Rows of an observation just after midnight may all lie in the day before.
SELECT format('increments of %s are missing, of which observations are kept', string_agg(d.day::date::text, ', ' ORDER BY d.day))
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
COMMENT ON FUNCTION jobstats_internal.lost_increments() IS
'Internal: the days of which increments should be stored and none is, in words; NULL: none.';

CREATE FUNCTION jobstats_internal.lost_rollups() RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    oldest timestamptz := (SELECT min(u.bucket) FROM jobstats.rollup_1d_users u);
    level jobstats.rollups;
    lost timestamptz;
    lost_all text;
BEGIN
    -- The sums by user say of which days a rollup has had rows.
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
COMMENT ON FUNCTION jobstats_internal.lost_rollups() IS
'Internal: the rollups that have no rows in a day of which sums by user are kept, in words; NULL: none.';

-- jobstats_maintain(): the steps of maintenance, a transaction each, in the order of a queue.
--
-- An item of the queue names an action. An action may put further items at the head of the queue. The queue travels as jsonb
-- between the procedure, which only commits, and maintain_step(), which runs with the rights of the store's owner. An item has
-- these keys:
--     do         the action, see take_item()
--     step       the name under which jobstats.maintenance records it
--     records    true: writes a row for itself and the items since the last row; false: only if it fails
--     group      items of one group are left to the next call when one of them fails
--     tries      how often it may be taken in this call if what it needs is locked; once, if it does not say
-- and the arguments of its action: level, by_user, from, to, target, relation, horizon, limit, until, again, node, leave_out.

CREATE FUNCTION jobstats_internal.require_rows() RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    lost text;
BEGIN
    SELECT t.name INTO lost
    FROM (VALUES ('settings', ARRAY(SELECT '' FROM jobstats.settings), 1), ('refresh', ARRAY(SELECT '' FROM jobstats.refresh), 1),
        ('sweep', ARRAY(SELECT '' FROM jobstats.sweep), 1), ('secrets', ARRAY(SELECT '' FROM jobstats.secrets), 1), ('identification', ARRAY(SELECT '' FROM jobstats.identification), 1),
        ('rollups', ARRAY(SELECT l.level FROM jobstats.rollups l WHERE l.level IN ('10m', '1h', '1d')), 3),
        ('locks', ARRAY(SELECT l.name FROM jobstats.locks l WHERE l.name IN ('store', 'entries', 'jobs')), 3)) AS t (name, held, wanted)
    WHERE cardinality(t.held) < t.wanted
    LIMIT 1;
    IF FOUND THEN
        RAISE object_not_in_prerequisite_state USING MESSAGE = format('jobstats.%s has lost a row', lost),
            HINT = 'Run SELECT jobstats_setup(); it restores missing rows, with default settings.';
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.require_rows() IS
'Internal: fails with 55000 where a table of the store lacks a row without which maintenance cannot do its work.';

CREATE FUNCTION jobstats_internal.clock_problem() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
-- Two days leave room for maintenance once a day.
SELECT format('the clock of this machine shows %s, which is more than two days after the newest reading and the last maintenance (%s). '
        'Where it is right, SELECT jobstats_setup(); says so', date_trunc('second', now()), date_trunc('second', k.known))
FROM (
    SELECT greatest(r.clock, (SELECT max(t.last_observation) FROM jobstats.targets t)) AS known FROM jobstats.refresh r
) k
WHERE k.known < now() - interval '2 days'
$$;
COMMENT ON FUNCTION jobstats_internal.clock_problem() IS
'Internal: why the clock of the database may be ahead of the true time, so that maintenance would drop what is to be kept; NULL: it is right.';

CREATE FUNCTION jobstats_internal.maintenance_plan() RETURNS jsonb
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    refresh jsonb := '[{"do": "announce", "step": "refresh", "group": "refresh"}, {"do": "settle", "step": "refresh", "group": "refresh", "patience": "60s"}]';
    rest jsonb := '[{"do": "watch", "step": "events", "records": true}, {"do": "forget", "step": "retention", "records": true}, {"do": "plan retention", "step": "retention"},
        {"do": "columns", "step": "columns", "again": false}, {"do": "columns", "step": "columns", "again": true},
        {"do": "sweep", "step": "retention of entries"}, {"do": "check", "step": "check"}]';
BEGIN
    IF (SELECT s.front FROM jobstats.settings s) THEN
        RETURN jsonb_build_object('started', clock_timestamp(), 'queue', (
            SELECT jsonb_agg(jsonb_build_object('do', 'check node', 'step', 'node ' || a.name, 'node', a.name) ORDER BY a.node) FROM jobstats.attached a)
            || jsonb_build_object('do', 'maintenance', 'step', 'retention of maintenance', 'horizon', (SELECT now() - s.rejects_retention FROM jobstats.settings s))
            || jsonb '{"do": "end", "step": "all"}');
    END IF;
    PERFORM jobstats_internal.require_rows();
    IF jobstats_internal.clock_problem() IS NOT NULL THEN
        RETURN jsonb_build_object('started', clock_timestamp(), 'queue', jsonb_build_array(
            jsonb_build_object('do', 'fail', 'step', 'clock', 'problem', jobstats_internal.clock_problem()), jsonb '{"do": "end", "step": "all"}'));
    END IF;
    UPDATE jobstats.refresh SET clock = greatest(clock, now());
    -- TimescaleDB's own refresh ends the whole call when it fails. Then the other steps go first the next time.
    RETURN jsonb_build_object('started', clock_timestamp(), 'queue', jsonb '[{"do": "end idle feeds", "step": "idle feeds"}, {"do": "reidentify", "step": "identification"}, {"do": "people", "step": "retention of people", "records": true}]'
        || CASE WHEN EXISTS (SELECT FROM jobstats.maintenance m WHERE m.problem = jobstats_internal.not_ended())
            THEN rest || refresh ELSE refresh || rest END
        || jsonb '[{"do": "end", "step": "all"}]');
END
$$;
COMMENT ON FUNCTION jobstats_internal.maintenance_plan() IS
'Internal: the state of a maintenance that begins.';

CREATE FUNCTION jobstats_internal.not_ended() RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN text 'it has not come to its end';
COMMENT ON FUNCTION jobstats_internal.not_ended() IS
'Internal: the problem of a refresh by TimescaleDB while it is under way, and when it failed.';

CREATE FUNCTION jobstats_internal.refresh_plan() RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
WITH item AS (
    SELECT b.by_user, jsonb_agg(i.item || jsonb_build_object('level', l.level, 'by_user', b.by_user, 'group', 'refresh',
            'step', format('refresh of rollup_%s%s', l.level, CASE WHEN b.by_user THEN '_users' END))
        ORDER BY l.width, i.number) AS items
    FROM jobstats.rollups l
    CROSS JOIN (VALUES (false), (true)) AS b (by_user)
    CROSS JOIN (VALUES (1, jsonb '{"do": "dirty"}'), (2, '{"do": "advance"}'), (3, '{"do": "nothing", "records": true}')) AS i (number, item)
    -- While users of entries are changing, sums by user that count no more would have to be computed anew again and again.
    WHERE NOT b.by_user OR (SELECT s.keep FROM jobstats.settings s) <> 'counts'
        AND NOT (l.users_refreshed = timestamptz 'epoch' AND jobstats_internal.is_reidentifying())
    GROUP BY b.by_user
)
SELECT (SELECT i.items FROM item i WHERE NOT i.by_user)
    || jsonb '[{"do": "queue unmatched", "step": "match"}, {"do": "match", "step": "match"}, {"do": "advise", "step": "advice", "records": true},
        {"do": "queue summaries", "step": "summaries"}, {"do": "summarize", "step": "summaries"}, {"do": "judge", "step": "findings", "limit": "400 milliseconds"}]'
    || coalesce((SELECT i.items FROM item i WHERE i.by_user), '[]')
    || jsonb '[{"do": "forget dirty", "step": "refresh", "group": "refresh"}]'
$$;
COMMENT ON FUNCTION jobstats_internal.refresh_plan() IS
'Internal: the items that bring all rollups up to date, match what they have with jobs, judge the matches, and then bring the sums by user up to date, if these are kept.';

CREATE FUNCTION jobstats_internal.retention_plan() RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT jsonb_agg(jsonb_build_object('do', p.work, 'step', p.step, 'relation', p.relation, 'horizon', p.horizon, 'records', true,
    'group', CASE WHEN p.relation IN ('evidence', 'raw') AND p.work <> 'partitions' THEN 'raw text' END, 'tries', CASE p.work WHEN 'drop' THEN 3 ELSE 1 END) ORDER BY p.number, p.relation)
FROM (
    SELECT 1 AS number, 'partitions' AS work, 'partitions of ' || t.relation AS step, t.relation, NULL::timestamptz AS horizon
    FROM jobstats_internal.growing_tables() t
    UNION ALL
    SELECT 2, 'drop', 'retention of rollup_' || l.level, 'rollup_' || l.level, l.dropped FROM jobstats.rollups l
    UNION ALL
    -- Sums by user that are not kept, and that nobody reads any more, are all dropped: no chunk ends later than that.
    SELECT 2, 'drop', format('retention of rollup_%s_%s', l.level, o.owner), format('rollup_%s_%s', l.level, o.owner),
        CASE WHEN s.keep = 'counts' AND l.users_refreshed = timestamptz 'epoch' THEN now() + interval '2 years' ELSE l.dropped END
    FROM jobstats.rollups l, jobstats.settings s, (VALUES ('users'), ('accounts'), ('members')) AS o (owner)
    WHERE l.level <> '10m' OR o.owner <> 'members'
    UNION ALL
    SELECT 2, 'drop', format('retention of rollup_%s_targets', l.level), format('rollup_%s_targets', l.level), l.dropped
    FROM jobstats.rollups l
    UNION ALL
    -- Raw text is copied before it is dropped.
    SELECT 3, 'evidence', 'evidence of events', 'evidence', now() - s.raw_retention FROM jobstats.settings s
    UNION ALL
    SELECT CASE t.kept WHEN 'retention' THEN 3 ELSE 4 END, 'drop', 'retention of ' || t.relation, t.relation,
        CASE t.kept WHEN 'retention' THEN r.dropped WHEN 'raw_retention' THEN now() - s.raw_retention END
    FROM jobstats_internal.growing_tables() t, jobstats.refresh r, jobstats.settings s
    UNION ALL
    SELECT 5, 'events', 'retention of events', 'events', now() - s.events_retention FROM jobstats.settings s
    UNION ALL
    SELECT 5, 'rejects', 'retention of rejects', 'rejects', now() - s.rejects_retention FROM jobstats.settings s
    UNION ALL
    SELECT 5, 'sum used', 'used space', 'used', NULL
    UNION ALL
    SELECT 5, 'samples', 'retention of samples', 'samples', NULL
    UNION ALL
    SELECT 5, 'texts', 'retention of texts', 'texts', now() - s.raw_retention FROM jobstats.settings s
    UNION ALL
    SELECT 6, 'maintenance', 'retention of maintenance', 'maintenance', now() - s.rejects_retention FROM jobstats.settings s
    UNION ALL
    SELECT 7, 'jobs', 'retention of jobs', 'jobs', now() - s.jobs_retention FROM jobstats.settings s
    UNION ALL
    SELECT 8, 'indexes', 'indexes by time', 'increments', NULL
) p
$$;
COMMENT ON FUNCTION jobstats_internal.retention_plan() IS
'Internal: the items that make room for the coming days and drop what is too old.';

CREATE FUNCTION jobstats_internal.dirty_items(item jsonb) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
-- Returns a limited number at a time: all spans of a store with thousands of targets would be carried from step to step.
WITH span AS (
    SELECT d.* FROM jobstats_internal.next_dirty(item ->> 'level', (item ->> 'by_user')::boolean,
        (item ->> 'target')::integer, (item ->> 'from')::timestamptz, integer '100') d
)
SELECT jsonb_agg(item || jsonb_build_object('do', 'span', 'target', s.target_id, 'from', s.span_from, 'to', s.span_to)
        ORDER BY coalesce(s.target_id, 0), s.span_from)
    || (SELECT item || jsonb_build_object('target', l.target_id, 'from', l.span_from)
        FROM span l ORDER BY coalesce(l.target_id, 0) DESC, l.span_from DESC LIMIT 1)
FROM span s
$$;
COMMENT ON FUNCTION jobstats_internal.dirty_items(jsonb) IS
'Internal: the items that compute the next spans of a rollup that have changed, and one that goes on with those after them; NULL: none is left.';

CREATE FUNCTION jobstats_internal.day_items(item jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
SELECT jsonb_build_array(
    item || jsonb_build_object('do', 'span', 'from', d.span_from, 'to', d.span_to),
    item || jsonb_build_object('do', 'advanced', 'to', d.span_to),
    item)
FROM jobstats_internal.next_day(item ->> 'level', (item ->> 'by_user')::boolean) d
WHERE d.span_from IS NOT NULL
$$;
COMMENT ON FUNCTION jobstats_internal.day_items(jsonb) IS
'Internal: the items that compute the next day of a rollup, and one that goes on with those after it; NULL: none is left.';

-- If a span cannot be summed, its halves are tried, down to a bucket of one target.
CREATE FUNCTION jobstats_internal.narrower_items(item jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    level text := item ->> 'level';
    width interval := (SELECT l.width FROM jobstats.rollups l WHERE l.level = item ->> 'level');
    low timestamptz := item ->> 'from';
    high timestamptz := item ->> 'to';
    middle timestamptz := jobstats_internal.bucket(width, low + (high - low) / 2);
BEGIN
    IF middle > low AND middle < high THEN
        RETURN jsonb_build_array(item || jsonb_build_object('to', middle), item || jsonb_build_object('from', middle));
    ELSIF item ->> 'target' IS NULL AND NOT jobstats_internal.is_aggregate(level, (item ->> 'by_user')::boolean) THEN
        RETURN (
            SELECT jsonb_agg(item || jsonb_build_object('target', t.target_id) ORDER BY t.target_id)
            FROM jobstats.targets t
            WHERE EXISTS (
                SELECT FROM jobstats.increments i WHERE i.target_id = t.target_id AND i."time" > low AND i."time" <= high));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION jobstats_internal.narrower_items(jsonb) IS
'Internal: the items that compute a span of a rollup in parts; NULL: it has none.';

CREATE FUNCTION jobstats_internal.largest(span_from timestamptz, span_to timestamptz, target_id integer, at_least numeric) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    sums text;
    found text;
BEGIN
    SELECT string_agg(format('coalesce(sum(i.%I), 0)', a.attname), ', ' ORDER BY a.attnum) INTO sums
    FROM pg_attribute a
    WHERE a.attrelid = regclass 'jobstats.increments' AND a.atttypid = regtype 'bigint' AND a.attname <> 'entry_id'
        AND a.attnum > 0 AND NOT a.attisdropped;
    EXECUTE format($sql$
        SELECT format('target %%s, entry %%s: increments in (%%s, %%s] add up to too much', t.name, left(e.name, 100), $1, $2)
        FROM (
            SELECT i.target_id, i.entry_id, greatest(%s) AS largest
            FROM jobstats.increments i
            WHERE i."time" > $1 AND i."time" <= $2 AND ($3 IS NULL OR i.target_id = $3)
            GROUP BY i.target_id, i.entry_id
        ) s
        JOIN jobstats.targets t ON t.target_id = s.target_id
        LEFT JOIN jobstats.entries e ON e.entry_id = s.entry_id
        WHERE s.largest >= $4
        ORDER BY s.largest DESC LIMIT 1
    $sql$, sums) INTO found USING span_from, span_to, target_id, at_least;
    RETURN found;
END
$$;
COMMENT ON FUNCTION jobstats_internal.largest(timestamptz, timestamptz, integer, numeric) IS
'Internal: names the target and the entry whose increments in a span, of one target or of all, add up to the most; NULL: to less than at_least.';

CREATE FUNCTION jobstats_internal.require_no_superuser() RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- TimescaleDB refreshes with the rights of the session, and the owner of the store can add functions and
    -- triggers to the relations that it reads.
    IF (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = session_user)
        AND NOT (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = current_user)
    THEN
        RAISE insufficient_privilege USING
            MESSAGE = format('a superuser does not refresh the continuous aggregates of role %I', current_user),
            HINT = format('Connect as %I and CALL jobstats_maintain(), or let a job of that role do so.', current_user);
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.require_no_superuser() IS
'Internal: fails with 42501 where the session is a superuser''s and the current user, as which it is called, is none.';

CREATE FUNCTION jobstats_internal.take_span(item jsonb, OUT affected bigint, OUT more jsonb, OUT refresh jsonb)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    level text := item ->> 'level';
    by_user boolean := item ->> 'by_user';
    low timestamptz := item ->> 'from';
    high timestamptz := item ->> 'to';
    target integer := item ->> 'target';
    problem text;
BEGIN
    affected := 0;
    BEGIN
        IF jobstats_internal.is_aggregate(level, by_user) THEN
            PERFORM jobstats_internal.require_no_superuser();
            -- TimescaleDB cannot skip rows that it cannot sum. Feeds since limited_since store no values of
            -- that size.
            IF low < (SELECT s.limited_since FROM jobstats.settings s)
                AND jobstats_internal.largest(low, high, NULL, numeric '9007199254740992') IS NOT NULL
            THEN
                RAISE numeric_value_out_of_range USING MESSAGE = 'a sum is too large';
            END IF;
            refresh := jsonb_build_object('relation', 'rollup_' || level, 'from', low, 'to', high);
        ELSE
            -- Setup and jobstats_reidentify() take the same lock.
            PERFORM jobstats_internal.lock_store();
            affected := jobstats_internal.roll_up(level, by_user, low, high, target);
        END IF;
        RETURN;
    EXCEPTION WHEN numeric_value_out_of_range THEN
        problem := SQLERRM;
    END;
    more := jobstats_internal.narrower_items(item);
    IF more IS NULL THEN
        problem := coalesce(jobstats_internal.largest(low, high, target, numeric '1'), problem);
        affected := jobstats_internal.give_up(low, high, target, problem);
        more := jsonb_build_array((item || jsonb_build_object('do', 'fail', 'problem', problem)) - 'group');
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.take_span(jsonb) IS
'Internal: computes a span of a rollup. Where a sum does not fit, it gives the items that compute the rest of the span; where TimescaleDB has to compute it, refresh says what.';

CREATE FUNCTION jobstats_internal.take_item(item jsonb, OUT affected bigint, OUT more jsonb, OUT refresh jsonb)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    relation text := item ->> 'relation';
    horizon timestamptz := item ->> 'horizon';
BEGIN
    CASE item ->> 'do'
        WHEN 'check node' THEN
            more := jobstats_internal.node_items(item);
        WHEN 'turn node' THEN
            PERFORM jobstats_internal.turn_node(item ->> 'node', (item ->> 'leave_out')::boolean);
        WHEN 'end idle feeds' THEN
            PERFORM jobstats_internal.end_idle_feeds();
        WHEN 'announce' THEN
            PERFORM jobstats_internal.announce();
        WHEN 'settle' THEN
            PERFORM jobstats_internal.settle();
            more := jobstats_internal.refresh_plan();
        WHEN 'dirty' THEN
            more := jobstats_internal.dirty_items(item);
        WHEN 'advance' THEN
            more := jobstats_internal.day_items(item);
        WHEN 'span' THEN
            SELECT * INTO affected, more, refresh FROM jobstats_internal.take_span(item);
        WHEN 'refreshed' THEN
            DELETE FROM jobstats.maintenance m WHERE m.step = item ->> 'step' AND m.problem = jobstats_internal.not_ended();
        WHEN 'advanced' THEN
            PERFORM jobstats_internal.set_refreshed(item ->> 'level', (item ->> 'by_user')::boolean, (item ->> 'to')::timestamptz);
        WHEN 'reidentify' THEN
            affected := jobstats_internal.reidentify_some();
            more := jobstats_internal.part_items(item, affected);
        WHEN 'watch' THEN
            affected := coalesce(jobstats_internal.watch(), 0);
        WHEN 'queue unmatched' THEN
            affected := jobstats_internal.queue_unmatched();
        WHEN 'match' THEN
            -- Feeds of jobs match, too.
            PERFORM FROM jobstats.locks l WHERE l.name = 'jobs' FOR UPDATE;
            affected := jobstats_internal.match_some();
            more := jobstats_internal.match_items(item, affected);
        WHEN 'queue summaries' THEN
            PERFORM jobstats_internal.queue_changed_summaries();
        WHEN 'summarize' THEN
            affected := jobstats_internal.summarize_some();
            more := jobstats_internal.match_items(item, affected);
        WHEN 'advise' THEN
            affected := jobstats_internal.advise();
        WHEN 'judge' THEN
            SELECT * INTO affected, more FROM jobstats_internal.judge_item(item);
        WHEN 'forget dirty' THEN
            DELETE FROM jobstats.dirty d WHERE d.known;
            -- Only maintenance matches, and it has done so before it computed the sums by user.
            DELETE FROM jobstats.dirty_users u;
        WHEN 'forget' THEN
            affected := jobstats_internal.forget();
        WHEN 'plan retention' THEN
            PERFORM jobstats_internal.forget_roles();
            more := jobstats_internal.retention_plan();
        WHEN 'partitions' THEN
            PERFORM jobstats_internal.lock_store();
            affected := jobstats_internal.add_partitions(relation, text 'day', now(), now() + interval '3 days');
        WHEN 'drop' THEN
            PERFORM jobstats_internal.lock_store();
            affected := jobstats_internal.drop_before(relation, horizon);
        WHEN 'rejects' THEN
            DELETE FROM jobstats.rejects r WHERE r.received < horizon;
            GET DIAGNOSTICS affected = ROW_COUNT;
        WHEN 'evidence' THEN
            affected := jobstats_internal.keep_evidence(horizon);
        WHEN 'events' THEN
            affected := jobstats_internal.forget_events(horizon);
        WHEN 'maintenance' THEN
            DELETE FROM jobstats.maintenance m WHERE m.began < horizon;
            GET DIAGNOSTICS affected = ROW_COUNT;
        WHEN 'jobs' THEN
            -- Feeds of jobs lock them in another order.
            PERFORM FROM jobstats.locks l WHERE l.name = 'jobs' FOR UPDATE;
            WITH gone AS (
                DELETE FROM jobstats.jobs j WHERE j.ended < horizon OR j.ended IS NULL AND j.updated < horizon RETURNING j.job
            ), queued AS (
                INSERT INTO jobstats.to_match (job) SELECT DISTINCT g.job FROM gone g
            )
            SELECT count(*) INTO affected FROM gone g;
            DELETE FROM jobstats.schedulers s
            WHERE NOT EXISTS (SELECT FROM jobstats.jobs j WHERE j.scheduler = s.scheduler);
            PERFORM jobstats_internal.forget_covered(horizon);
        WHEN 'people' THEN
            affected := jobstats_internal.forget_people();
        WHEN 'sum used' THEN
            affected := jobstats_internal.sum_used();
        WHEN 'samples' THEN
            affected := jobstats_internal.forget_samples();
        WHEN 'texts' THEN
            PERFORM FROM jobstats.locks l WHERE l.name = 'jobs' FOR UPDATE;
            affected := jobstats_internal.forget_texts(horizon);
        WHEN 'indexes' THEN
            PERFORM jobstats_internal.lock_store();
            affected := jobstats_internal.summarize_ranges();
        WHEN 'columns' THEN
            SELECT jobstats_internal.compress_before(now() - greatest(s.compress_after, s.raw_retention), (item ->> 'again')::boolean)
            INTO relation FROM jobstats.settings s;
            affected := CASE WHEN relation IS NOT NULL THEN 1 END;
            more := jobstats_internal.pack_items(item, relation);
        WHEN 'sweep' THEN
            affected := jobstats_internal.sweep();
            more := jobstats_internal.sweep_items(item, affected);
            affected := CASE WHEN affected > 0 THEN affected ELSE 0 END;
        WHEN 'check' THEN
            more := jobstats_internal.check_items(item);
        WHEN 'fail' THEN
            RAISE data_exception USING MESSAGE = item ->> 'problem';
        WHEN 'nothing' THEN
            NULL;
    END CASE;
END
$$;
COMMENT ON FUNCTION jobstats_internal.take_item(jsonb) IS
'Internal: does what an item of the queue says; affected counts what it wrote or dropped, more are items to be taken next.';

CREATE FUNCTION jobstats_internal.match_items(item jsonb, matched bigint) RETURNS jsonb
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
-- The first accounting of a large site may take minutes.
SELECT CASE WHEN matched > 0 AND l.until > clock_timestamp() THEN jsonb_build_array(item || jsonb_build_object('until', l.until))
    ELSE jsonb_build_array(item || jsonb '{"do": "nothing", "records": true}') END
FROM (SELECT coalesce((item ->> 'until')::timestamptz, clock_timestamp() + interval '2 minutes') AS until) l
$$;
COMMENT ON FUNCTION jobstats_internal.match_items(jsonb, bigint) IS
'Internal: the item that follows on a batch of numbers or jobs, of which so many were matched or summed up.';

CREATE FUNCTION jobstats_internal.part_items(item jsonb, done bigint) RETURNS jsonb
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
-- The rest of a very large store is left to the next call.
SELECT CASE
    WHEN done IS NULL AND item ->> 'until' IS NULL THEN NULL
    WHEN done IS NULL OR l.until < clock_timestamp() THEN jsonb_build_array(item || jsonb '{"do": "nothing", "records": true}')
    ELSE jsonb_build_array(item || jsonb_build_object('until', l.until))
END
FROM (SELECT coalesce((item ->> 'until')::timestamptz, clock_timestamp() + coalesce((item ->> 'limit')::interval, interval '2 minutes')) AS until) l
$$;
COMMENT ON FUNCTION jobstats_internal.part_items(jsonb, bigint) IS
'Internal: the item that follows on a part of what is done in parts, in which so much was done; NULL: no part was left.';

CREATE FUNCTION jobstats_internal.sweep_items(item jsonb, deleted bigint) RETURNS jsonb
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
-- The sweep works for a few seconds per call.
WITH limits AS (
    SELECT coalesce((item ->> 'until')::timestamptz, clock_timestamp() + interval '5 seconds') AS until
)
SELECT CASE
    WHEN deleted IS NULL AND item ->> 'until' IS NULL THEN NULL
    WHEN deleted < 0 THEN jsonb_build_array(item || jsonb '{"do": "fail", "problem": "feeds have been running all the time"}')
    WHEN deleted IS NULL OR l.until < clock_timestamp() OR (SELECT s.after IS NULL FROM jobstats.sweep s)
        THEN jsonb_build_array(item || jsonb '{"do": "nothing", "records": true}')
    ELSE jsonb_build_array(item || jsonb_build_object('until', l.until))
END
FROM limits l
$$;
COMMENT ON FUNCTION jobstats_internal.sweep_items(jsonb, bigint) IS
'Internal: the item that follows on a batch of entries, of which so many were deleted.';

CREATE FUNCTION jobstats_internal.check_items(item jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
-- Once a day, and in every call while something is lost.
SELECT jsonb_build_array(CASE WHEN c.lost IS NULL THEN item || jsonb '{"do": "nothing", "records": true}'
    ELSE item || jsonb_build_object('do', 'fail', 'problem', c.lost || ', which was summed before: restore it from a backup') END)
FROM (SELECT jobstats_internal.lost_rollups() AS lost OFFSET 0) c
WHERE NOT EXISTS (
    SELECT FROM jobstats.maintenance m WHERE m.step = item ->> 'step' AND m.problem IS NULL AND m.began > now() - interval '1 day')
$$;
COMMENT ON FUNCTION jobstats_internal.check_items(jsonb) IS
'Internal: the item that records whether rollups still have what was summed, or that they do not; NULL: that was checked today.';

CREATE FUNCTION jobstats_internal.in_use(step text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT 'it is in use' || coalesce(', at every try since ' || date_trunc('second', min(m.began)), '')
FROM jobstats.maintenance m
WHERE m.step = in_use.step AND m.problem LIKE 'it is in use%' AND m.began > coalesce((
    SELECT max(d.began) FROM jobstats.maintenance d WHERE d.step = in_use.step AND d.problem IS NULL), '-infinity')
$$;
COMMENT ON FUNCTION jobstats_internal.in_use(text) IS
'Internal: the problem of a step that did not get its locks, and since when it has not got them. The step is one of those that each call records.';

CREATE FUNCTION jobstats_internal.maintain_step(state jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    item jsonb := state #> '{queue,0}';
    began timestamptz := clock_timestamp();
    done record;
    failure text;
BEGIN
    IF state = jsonb '{}' THEN
        RETURN jobstats_internal.maintenance_plan();
    ELSIF item IS NULL THEN
        RETURN NULL;
    ELSIF item ->> 'do' = 'end' THEN
        PERFORM jobstats_internal.record_end((state ->> 'started')::timestamptz);
        RETURN NULL;
    END IF;
    state := state - 'refresh' #- '{queue,0}';
    IF current_setting('lock_timeout') = '0' THEN
        -- Of what waits for rows, nobody else waits for longer.
        PERFORM set_config('lock_timeout', coalesce(item ->> 'patience', '10s'), true);
    END IF;
    BEGIN
        done := jobstats_internal.take_item(item);
    EXCEPTION
        -- A step that fails must not keep the other steps from being taken.
        WHEN lock_not_available THEN
            IF (item ->> 'tries')::integer > 1 THEN
                -- Once more, when all others have been taken.
                item := item || jsonb_build_object('tries', (item ->> 'tries')::integer - 1);
                RETURN jsonb_set(state, '{queue}', jsonb_insert(state -> 'queue', '{-1}', item));
            END IF;
            failure := CASE WHEN item ->> 'do' = 'settle' THEN 'a feed has been running for long'
                WHEN (item ->> 'records')::boolean THEN jobstats_internal.in_use(item ->> 'step') ELSE 'it is in use' END;
        WHEN OTHERS THEN
            failure := SQLERRM;
    END;
    IF failure IS NOT NULL THEN
        RAISE WARNING '%: %; the next call of jobstats_maintain() tries again', item ->> 'step', failure;
        INSERT INTO jobstats.maintenance (step, began, took, affected, problem)
        VALUES (item ->> 'step', began, clock_timestamp() - began, 0, failure);
        RETURN jsonb_set(state - 'since' - 'affected', '{queue}', coalesce((
            SELECT jsonb_agg(q.other ORDER BY q.number)
            FROM jsonb_array_elements(state -> 'queue') WITH ORDINALITY AS q (other, number)
            WHERE item ->> 'group' IS NULL OR q.other ->> 'group' IS DISTINCT FROM item ->> 'group'), '[]'));
    END IF;
    IF done.refresh IS NOT NULL THEN
        INSERT INTO jobstats.maintenance (step, began, took, affected, problem)
        VALUES (item ->> 'step', began, interval '0', 0, jobstats_internal.not_ended());
        state := state || jsonb_build_object('refresh', done.refresh);
        done.more := jsonb_build_array(item || jsonb '{"do": "refreshed"}');
    END IF;
    IF done.affected IS NOT NULL AND state -> 'since' IS NULL THEN
        state := state || jsonb_build_object('since', began);
    END IF;
    state := state || jsonb_build_object('queue', coalesce(done.more, '[]') || (state -> 'queue'),
        'affected', coalesce((state ->> 'affected')::bigint, 0) + coalesce(done.affected, 0));
    IF (item ->> 'records')::boolean THEN
        INSERT INTO jobstats.maintenance (step, began, took, affected)
        SELECT item ->> 'step', s.since, clock_timestamp() - s.since, (state ->> 'affected')::bigint
        FROM (SELECT coalesce((state ->> 'since')::timestamptz, began) AS since) s;
        state := state - 'since' - 'affected';
    END IF;
    RETURN state;
END
$$;
COMMENT ON FUNCTION jobstats_internal.maintain_step(jsonb) IS
'Internal: takes the first item of the queue of a maintenance, records it, and returns the state that is left; NULL: nothing is. An empty object begins one. Where the state has a key refresh, TimescaleDB has to compute that before the next item.';

CREATE FUNCTION jobstats_internal.record_end(started timestamptz) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
INSERT INTO jobstats.maintenance (step, began, took, affected, problem)
SELECT 'all', started, clock_timestamp() - started, 0, nullif(concat_ws('; ',
    (SELECT string_agg(m.step || ': ' || m.problem, '; ' ORDER BY m.began) FROM jobstats.maintenance m
        WHERE m.began >= started AND m.problem IS NOT NULL),
    jobstats_internal.foreign_policies(), jobstats_internal.failing_job()), '')
$$;
COMMENT ON FUNCTION jobstats_internal.record_end(timestamptz) IS
'Internal: records that a maintenance has come to its end, with all its problems.';

-- The procedure only commits and calls TimescaleDB; all other work runs with the rights of the store's owner. It has no
-- SET clause, because a procedure with one cannot commit. Every transaction pins the search path instead.
CREATE PROCEDURE jobstats_maintain()
LANGUAGE plpgsql
AS $$
DECLARE
    state pg_catalog.jsonb := '{}';
BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    PERFORM jobstats_internal.require_store();
    PERFORM jobstats_internal.require_top_level(text 'jobstats_maintain()');
    IF current_setting('lock_timeout') = '0' THEN
        PERFORM set_config('lock_timeout', '60s', true);
    END IF;
    BEGIN
        PERFORM jobstats_internal.begin_maintenance();
    EXCEPTION WHEN lock_not_available THEN
        RAISE WARNING 'another call of jobstats_maintain() is running';
        RETURN;
    END;
    LOOP
        COMMIT;
        PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
        state := jobstats_internal.as_owner(text 'maintain', state::text)::jsonb;
        EXIT WHEN state IS NULL;
        IF state ? 'refresh' THEN
            COMMIT;
            PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
            PERFORM pg_catalog.set_config('jit', 'off', true);
            CALL jobstats_internal.refresh_aggregate(
                state #>> '{refresh,relation}', (state #>> '{refresh,from}')::timestamptz, (state #>> '{refresh,to}')::timestamptz);
        END IF;
    END LOOP;
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    PERFORM jobstats_internal.end_maintenance();
    COMMIT;
END
$$;
COMMENT ON PROCEDURE jobstats_maintain() IS
'Brings rollups up to date and drops old data; to be called regularly. It also makes the partitions of the coming days and enters new rows into the indexes by time. jobstats.maintenance shows what it did. Call it from cron, pg_cron or, as jobstats_maintain_job(), a job of TimescaleDB; as the owner of the store, outside a transaction. A step that fails, or waits too long for a lock, is left to the next call, with a warning. In a front it asks whether the nodes answer, leaves out those that do not, and shows them again; call it every minute there. Errors: 55000 where there is no store, 25001 inside a transaction, 25006 on a standby, 42501 where the caller does not have the rights of the owner.';

CREATE PROCEDURE jobstats_watch()
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM jobstats_internal.require_store();
    IF jobstats_internal.as_owner(text 'watch', NULL::text) IS NULL THEN
        RAISE NOTICE 'another call of jobstats_watch() or jobstats_maintain() is judging';
    END IF;
END
$$;
COMMENT ON PROCEDURE jobstats_watch() IS
'Finds events in the newest readings, and notifies of them. To be called every two minutes. It judges what was read since the last call, at most a day at once, and again what late texts have changed; what it finds is in jobstats.events. Whoever listens to jobstats_events is notified of each event once: the payload is JSON, without names of people. jobstats_maintain() does the same. Call it as the owner of the store. Errors: 55000 where there is no store, 25006 on a standby, 42501 where the caller does not have the rights of the owner.';

CREATE PROCEDURE jobstats_watch_job(job_id integer, config jsonb)
LANGUAGE plpgsql
AS $$
BEGIN
    CALL @extschema@.jobstats_watch();
END
$$;
COMMENT ON PROCEDURE jobstats_watch_job(integer, jsonb) IS
'Runs jobstats_watch() as a job of TimescaleDB. In its Community edition: SELECT add_job(''jobstats_watch_job'', ''2 minutes''); Errors: as of jobstats_watch(), 55000, 25006 and 42501.';

CREATE FUNCTION jobstats_internal.probe_hours(since timestamptz, until timestamptz) RETURNS TABLE (target_id integer, hour timestamptz, seconds double precision)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT step.target_id, step.bucket - interval '1 microsecond', sum(step.seconds)
FROM (
    SELECT target.target_id, value.bucket, sum(value.sum) / sum(value.count) AS seconds
    FROM jobstats.sample_series series
    JOIN jobstats.targets target ON target.cluster = series.cluster AND target.name = series.labels ->> 'target'
    JOIN jobstats.samples_1h value ON value.series_id = series.series_id
    WHERE series.name = 'jobstats_probe_seconds' AND series.target_id IS NULL
        AND value.bucket > probe_hours.since AND value.bucket <= probe_hours.until - interval '59 minutes 59.999999 seconds'
    GROUP BY target.target_id, value.bucket, series.labels ->> 'step'
) step
GROUP BY step.target_id, step.bucket
$$;
COMMENT ON FUNCTION jobstats_internal.probe_hours(timestamptz, timestamptz) IS
'Internal: how long a probe of each target took on average, all its steps together, in each of the hours that lie in a span.';

CREATE FUNCTION jobstats_internal.culprits_for(culprits jsonb, uids bigint[], accounts text[], is_nameless boolean) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE
    WHEN is_nameless THEN NULL
    WHEN uids IS NULL THEN culprits
    WHEN o.subjects IS NOT NULL THEN jsonb_build_object('by', culprits -> 'by', 'subjects', o.subjects, 'times', culprits -> 'times',
        'named', (culprits ->> 'named')::boolean AND o.has_first, 'slow', culprits -> 'slow')
    END
FROM (
    SELECT jsonb_agg(s.subject ORDER BY s.number) AS subjects, bool_or(s.number = 1) AS has_first
    FROM jsonb_array_elements(culprits -> 'subjects') WITH ORDINALITY AS s (subject, number)
    WHERE (s.subject ->> 'uid')::bigint = ANY (uids) OR s.subject ->> 'account' = ANY (accounts)
) o
$$;
COMMENT ON FUNCTION jobstats_internal.culprits_for(jsonb, bigint[], text[], boolean) IS
'Internal: what a reader may see of the culprits of an event: NULL for one who sees no names, and themselves for one of their own work, who sees these users and accounts; uids NULL: a reader of everything.';

-- The rule: a routine may be called by the owner of the database and by roles that are granted it. The routines that
-- others may call are named below.

REVOKE ALL ON SCHEMA jobstats_internal FROM PUBLIC;
GRANT USAGE ON SCHEMA jobstats_internal TO PUBLIC;
DO $privileges$
DECLARE
    routine pg_catalog.regprocedure;
BEGIN
    FOR routine IN
        SELECT d.objid
        FROM pg_catalog.pg_depend d
        JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid AND e.extname = 'jobstats'
        WHERE d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass AND d.deptype = 'e'
            AND d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass
    LOOP
        EXECUTE pg_catalog.format('REVOKE ALL ON ROUTINE %s FROM PUBLIC', routine);
        EXECUTE pg_catalog.format('GRANT EXECUTE ON ROUTINE %s TO pg_database_owner', routine);
    END LOOP;
END
$privileges$;

-- These routines read the store with the rights of the caller, or show a reader of their own work that alone.
GRANT EXECUTE ON ROUTINE
    jobstats_alerts, jobstats_attributed, jobstats_internal.attributed, jobstats_internal.require_store, jobstats_audit, jobstats_balance, jobstats_changes, jobstats_compare,
    jobstats_densities, jobstats_entries, jobstats_events, jobstats_explain, jobstats_findings, jobstats_job(text, timestamptz, timestamptz, interval, text[], text),
    jobstats_job(bigint, timestamptz, timestamptz, interval, text[], text), jobstats_kept, jobstats_metrics, jobstats_now,
    jobstats_nodes, jobstats_queues, jobstats_rates, jobstats_runs, jobstats_sizes, jobstats_summaries, jobstats_summary, jobstats_targets, jobstats_top, jobstats_totals, jobstats_unaccounted,
    jobstats_used, jobstats_usual, jobstats_verdict, jobstats_work,
    jobstats_internal.nodes_of_front, jobstats_internal.health_of_front, jobstats_internal.accounting_node, jobstats_internal.ask_node, jobstats_internal.is_of_node, jobstats_internal.limit_wait, jobstats_internal.end_wait,
    jobstats_internal.targets_of_two, jobstats_internal.added_up, jobstats_internal.own_uids, jobstats_internal.culprits_for, jobstats_internal.evidence_kept_for, jobstats_internal.evidence_spans, jobstats_internal.people_kept_for, jobstats_internal.user_names, jobstats_internal.group_names, jobstats_internal.require_bound,
-- These routines read nothing but their arguments, which are small, or the catalog. Functions on text cost the server time and memory
-- for a long text; readers and writers get them together with the right to read or to feed.
    jobstats_fold, jobstats_forever, jobstats_format, jobstats_help, jobstats_ids_remedy, jobstats_operations, jobstats_share,
    jobstats_counter_agg(timestamptz, bigint), jobstats_counter_agg(timestamptz, bigint, timestamptz),
    jobstats_counter_agg(timestamptz, bigint, timestamptz, bigint),
    jobstats_rollup(jobstats_counter), jobstats_first, jobstats_last,
    jobstats_elapsed(jobstats_counter), jobstats_elapsed(jobstats_counter, jobstats_counter),
    jobstats_increase(jobstats_counter), jobstats_increase(jobstats_counter, jobstats_counter),
    jobstats_rate(jobstats_counter), jobstats_rate(jobstats_counter, jobstats_counter),
    jobstats_resets(jobstats_counter), jobstats_resets(jobstats_counter, jobstats_counter),
    jobstats_density_agg(double precision), jobstats_density_agg(double precision, integer), jobstats_rollup(jobstats_density),
    jobstats_buckets, jobstats_count, jobstats_zeros,
-- The types and the reading functions call these routines with the rights of the caller. None of them reads a table;
-- staged_increments() shows a session only what the session itself computes, feeding() shows who may read health or feed who keeps
-- feeds waiting, and ingest() takes of a caller what that role may feed.
    jobstats_internal.counter_in, jobstats_internal.counter_out, jobstats_internal.counter_recv, jobstats_internal.counter_send,
    jobstats_internal.counter_eq, jobstats_internal.counter_ne, jobstats_internal.counter_hash,
    jobstats_internal.density_in, jobstats_internal.density_out, jobstats_internal.density_recv, jobstats_internal.density_send,
    jobstats_internal.density_eq, jobstats_internal.density_ne, jobstats_internal.density_hash,
    jobstats_internal.sum(bigint, bigint, bigint), jobstats_internal.sum(numeric, bigint, bigint),
    jobstats_internal.sum_of_rates(bigint, bigint, bigint), jobstats_internal.sum_of_rates(numeric, bigint, bigint),
    jobstats_internal.any(bigint, bigint, bigint), jobstats_internal.any(numeric, bigint, bigint),
    jobstats_internal.observed, jobstats_internal.bucket, jobstats_internal.feeding, jobstats_internal.ingest, jobstats_internal.damage_in_words,
    jobstats_internal.damage, jobstats_internal.parts, jobstats_internal.growing_tables, jobstats_internal.hypertables,
    jobstats_internal.staged_increments, jobstats_internal.detail_in_brief, jobstats_internal.nearest, jobstats_internal.as_like, jobstats_internal.escaped, jobstats_internal.sized
TO PUBLIC;
