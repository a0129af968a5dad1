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
                -- Nor need it say targets.
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
