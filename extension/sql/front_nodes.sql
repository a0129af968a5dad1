-- The nodes of a front: a database without rows that answers from the stores of its nodes, through foreign tables of postgres_fdw.

CREATE FUNCTION jobstats_internal.limit_wait() RETURNS boolean
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'jobstats_limit_wait_wrapper';
COMMENT ON FUNCTION jobstats_internal.limit_wait IS
'Internal: limits how long this session waits for nodes from now on; false: a caller has already limited it.';

CREATE FUNCTION jobstats_internal.end_wait(limited boolean) RETURNS text
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'jobstats_end_wait_wrapper';
COMMENT ON FUNCTION jobstats_internal.end_wait IS
'Internal: ends the limit of limit_wait() if that returned true. Returns the message if the limit was reached, else NULL.';

CREATE FUNCTION jobstats_internal.require_own_rows() RETURNS void
LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'jobstats_require_own_rows_wrapper';
COMMENT ON FUNCTION jobstats_internal.require_own_rows IS
'Internal: fails with 55000 where the store is missing, and in a front, which stores no rows itself.';

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
            -- A dead machine does not answer at all. A node on a live machine ends a statement itself.
            'use_remote_estimate ''true'', connect_timeout ''10'', keepalives_idle ''10'', keepalives_interval ''10'', tcp_user_timeout ''30000'', '
            'options ''-c statement_timeout=300s''%s)', server, (
                SELECT string_agg(format(', %s %L', o.name, o.value), '' ORDER BY o.name)
                FROM (VALUES ('host', host), ('port', port::text), ('dbname', dbname)) AS o (name, value) WHERE o.value IS NOT NULL));
        EXECUTE format('CREATE USER MAPPING FOR PUBLIC SERVER %I OPTIONS (%s)', server, (
                SELECT string_agg(format('%I %L', o.name, o.value), ', ' ORDER BY o.name)
                FROM (VALUES ('user', "user"), ('password', password),
                    -- A superuser may let all readers use a connection by certificate or socket.
                    ('password_required', CASE WHEN password IS NULL AND (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = current_user) THEN 'false' END))
                    AS o (name, value)
                WHERE o.value IS NOT NULL));
    END IF;
    -- The row of jobstats.node_state of its store.
    EXECUTE format('CREATE FOREIGN TABLE pg_temp.jobstats_node (node integer, front boolean, version text, sorting text, database oid, started timestamptz, '
        'targets bigint) SERVER %I OPTIONS (schema_name ''jobstats'', table_name ''node_state'')', server);
    EXECUTE 'SELECT to_jsonb(n) FROM pg_temp.jobstats_node n' INTO state;
    EXECUTE 'DROP FOREIGN TABLE pg_temp.jobstats_node';
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
COMMENT ON FUNCTION jobstats_attach IS
'Makes this database a front, and attaches the store of a node. The database must be a front or have an empty store. With only a name, rebuilds that node for the installed version. accounting: take users and jobs from this node. Errors: 08001, 22004, 22023, 23505, 42501, 42704, 42710, 55000, 55P03.';

CREATE FUNCTION jobstats_internal.require_own_numbers(name text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    others text := (SELECT string_agg(t.target, ', ') FROM (SELECT t.target FROM jobstats_internal.targets_of_two() t LIMIT 5) t);
BEGIN
    IF others IS NOT NULL THEN
        RAISE unique_violation USING
            MESSAGE = format('node "%s" has targets that another node has: %s', require_own_numbers.name, others),
            HINT = 'All servers of a target must feed the same node. Where the target is gone: SELECT jobstats_alter_target(…, retired => true); SELECT jobstats_drop_targets(…);';
    END IF;
    IF EXISTS (
        SELECT FROM (SELECT e.entry_id FROM jobstats.entries e ORDER BY e.entry_id LIMIT 10000) e GROUP BY e.entry_id HAVING count(*) > 1)
    THEN
        RAISE unique_violation USING
            MESSAGE = format('node "%s" has the same entry keys as another node', require_own_numbers.name),
            HINT = 'One is a copy of the other: give it a new number and new keys with jobstats_setup(node => …).';
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.require_own_numbers IS
'Internal: fails with 23505 where a new node of a front has targets or entries of another one.';

CREATE FUNCTION jobstats_internal.targets_of_two() RETURNS TABLE (cluster text, name text, target text, nodes text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT t.cluster, t.name, concat_ws('/', nullif(t.cluster, ''), t.name), string_agg(a.name, ', ' ORDER BY a.node)
FROM jobstats.targets t
JOIN jobstats.attached a ON a.node = (t.target_id - 1) / 65536
WHERE t.retired IS NULL
GROUP BY t.cluster, t.name
HAVING count(*) > 1
ORDER BY t.cluster, t.name
$$;
COMMENT ON FUNCTION jobstats_internal.targets_of_two IS 'Internal: the targets of a front that more than one node has, and that are still active.';

CREATE FUNCTION jobstats_internal.lock_front() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM jobstats_internal.require_store();
    -- Triggers and defaults of the owner must not run as another role, and tables of another role do not belong to the store.
    IF NOT EXISTS (SELECT FROM pg_namespace n WHERE n.nspname = 'jobstats' AND pg_get_userbyid(n.nspowner) = current_user) THEN
        RAISE insufficient_privilege USING
            MESSAGE = 'must be owner of the jobstats store', HINT = 'SET ROLE to the owner of the schema jobstats.';
    END IF;
    -- One at a time.
    LOCK TABLE jobstats.attached IN EXCLUSIVE MODE;
END
$$;
COMMENT ON FUNCTION jobstats_internal.lock_front IS
'Internal: keeps others from attaching and detaching nodes. Errors: 42501 not the owner of the store, 55000 no store.';

CREATE FUNCTION jobstats_internal.require_attachable(name text, is_new boolean, asker text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    is_attached boolean;
BEGIN
    IF (require_attachable.name ~ '^[a-z][a-z0-9_]{0,19}$') IS NOT TRUE THEN
        RAISE invalid_parameter_value USING
            MESSAGE = format('name %L is invalid for a node', left(require_attachable.name, 60)),
            HINT = 'Give 1 to 20 lower-case letters, digits and underscores, the first a letter, as in ''scratch''.';
    ELSIF NOT EXISTS (SELECT FROM pg_extension e WHERE e.extname = 'postgres_fdw') THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = 'extension postgres_fdw is not installed in this database', HINT = 'A superuser must run CREATE EXTENSION postgres_fdw;';
    END IF;
    is_attached := EXISTS (SELECT FROM jobstats.attached a JOIN pg_foreign_server f ON f.srvname = 'jobstats_' || a.name WHERE a.name = require_attachable.name);
    IF is_attached AND is_new THEN
        RAISE duplicate_object USING
            MESSAGE = format('node "%s" is already attached', require_attachable.name),
            HINT = 'To rebuild it, give the name alone. To change its connection, use ALTER SERVER and ALTER USER MAPPING, or jobstats_detach() first.';
    ELSIF NOT is_attached AND NOT is_new THEN
        RAISE undefined_object USING
            MESSAGE = format('node "%s" is not attached', require_attachable.name), HINT = 'Give host, dbname and user of its store.';
    ELSIF is_new AND asker IS NULL THEN
        RAISE null_value_not_allowed USING
            MESSAGE = 'user must not be NULL', HINT = 'Name the front''s role on the node; it needs jobstats_grant_reader() there.';
    ELSIF NOT (SELECT s.front FROM jobstats.settings s)
        AND (EXISTS (SELECT FROM jobstats.targets) OR EXISTS (SELECT FROM jobstats.entries) OR EXISTS (SELECT FROM jobstats.texts))
    THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = 'this store is not empty', HINT = 'Create the front in a database with an empty store, and attach this one to it.';
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.require_attachable IS
'Internal: makes those checks of jobstats_attach() that depend only on this database and the name. Errors: as jobstats_attach().';

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
            MESSAGE = format('the store of node "%s" has version %s, this extension has version %s', require_node.name, state ->> 'version', own ->> 'version'),
            HINT = 'Bring both to the same version: ALTER EXTENSION jobstats UPDATE; and on the node SELECT jobstats_setup();';
    ELSIF state -> 'sorting' IS DISTINCT FROM own -> 'sorting' THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = format('node "%s" sorts text by %s, this database by %s', require_node.name, state ->> 'sorting', own ->> 'sorting'),
            HINT = 'Create this database with the LC_COLLATE of its nodes: CREATE DATABASE … TEMPLATE template0 LC_COLLATE …';
    ELSIF other IS NOT NULL THEN
        RAISE unique_violation USING
            MESSAGE = format('nodes "%s" and "%s" have the same number %s', require_node.name, other, state ->> 'node'),
            HINT = 'A new store gets its number before it is fed: SELECT jobstats_setup(node => 1);';
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.require_node IS 'Internal: checks that a store can be a node of this front. Errors: as jobstats_attach().';

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
            MESSAGE = format('node "%s" is not attached', left(jobstats_detach.name, 60)), HINT = 'jobstats.front_nodes lists the attached nodes.';
    END IF;
    PERFORM jobstats_internal.hide_node(jobstats_detach.name, '{ranges,union,merged,accounting}');
    EXECUTE format('DROP SERVER IF EXISTS %I CASCADE', 'jobstats_' || jobstats_detach.name);
    IF had_accounting THEN
        UPDATE jobstats.attached a SET accounting = true WHERE a.node = (SELECT min(o.node) FROM jobstats.attached o);
    END IF;
    PERFORM jobstats_internal.show_accounting();
END
$$;
COMMENT ON FUNCTION jobstats_detach IS
'Detaches a node from a front. Its store stays as it is, and the front answers for the other nodes. If the node had the accounting, the node with the lowest number takes over. Errors: 42704 no such node, 42501 not the owner of the store, 55000 no store, 55P03 busy, call it again.';

-- The state of nodes, and the front while a node does not answer.
CREATE FUNCTION jobstats_internal.ask_node(name text, node integer, with_targets boolean, OUT version text, OUT targets bigint, OUT last_observation timestamptz,
    OUT refreshed timestamptz, OUT known jsonb, OUT problem text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    -- It ends after the block, because postgres_fdw also sends nodes a rollback.
    limited CONSTANT boolean := jobstats_internal.limit_wait();
    is_other boolean;
    context text;
BEGIN
    BEGIN
        EXECUTE format('SELECT s.version, s.targets, s.last_observation, s.refreshed, s.node <> %s FROM jobstats.%I s', node, name || ' node_state')
            INTO STRICT version, targets, last_observation, refreshed, is_other;
        version := left(version, 60);
        problem := CASE WHEN is_other THEN 'is not the store that was attached'
            WHEN version <> (SELECT e.extversion FROM pg_extension e WHERE e.extname = 'jobstats')
            THEN format('has version %s: bring node and front to the same version, then SELECT jobstats_attach(%L)', version, name) END;
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
COMMENT ON FUNCTION jobstats_internal.ask_node IS
'Internal: queries the state of an attached node and, with_targets, its targets; problem: why it cannot be queried, or NULL.';

CREATE FUNCTION jobstats_internal.is_of_node(state text, context text) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
-- The first line is the statement sent to the node. Names of foreign tables are quoted.
RETURN state <> '57014' OR context ~ '^[^\n]*FROM jobstats\.[a-z]';
COMMENT ON FUNCTION jobstats_internal.is_of_node IS
'Internal: whether an error in a query of a node was raised by the node, whose statement timeout has the same code as a cancel of this session.';

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
            problem := format('%s. Its targets are missing (since %s) until CALL jobstats_maintain() finds it answering.', coalesce(problem, 'answers'), left_out_since);
        ELSE
            answer := jobstats_internal.ask_node(name, node, false);
            problem := answer.problem || format('. Queries can fail until %sSELECT jobstats_detach(%L).',
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
COMMENT ON FUNCTION jobstats_internal.nodes_of_front IS 'Internal: the rows of jobstats.front_nodes.';

CREATE FUNCTION jobstats_internal.note_node(name text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    attached jobstats.attached;
    answer record;
BEGIN
    SELECT a.* INTO STRICT attached FROM jobstats.attached a WHERE a.name = note_node.name;
    answer := jobstats_internal.ask_node(attached.name, attached.node, attached.left_out_since IS NULL);
    UPDATE jobstats.attached a SET checked = now(), problem = answer.problem WHERE a.name = note_node.name;
    IF answer.version IS NOT NULL THEN
        UPDATE jobstats.attached a SET answered = now(), version = answer.version, targets = answer.targets,
            last_observation = answer.last_observation, refreshed = answer.refreshed, known_targets = coalesce(answer.known, a.known_targets)
        WHERE a.name = note_node.name;
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.note_node IS 'Internal: records the state, targets and problem of an attached node.';

CREATE FUNCTION jobstats_internal.turn_node(name text) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET lock_timeout = '300ms'
AS $$
#variable_conflict use_column
DECLARE
    kinds CONSTANT text[] := '{ranges,union,merged}';
    leave_out boolean;
BEGIN
    SELECT a.problem IS NOT NULL AND s.leave_out_nodes INTO leave_out FROM jobstats.attached a, jobstats.settings s
    WHERE a.name = turn_node.name AND (a.left_out_since IS NOT NULL) <> (a.problem IS NOT NULL AND s.leave_out_nodes);
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM jobstats_internal.lock_front();
    -- All at once, so that a query that holds one and waits for another cannot deadlock.
    EXECUTE (SELECT 'LOCK TABLE ' || string_agg(c.oid::regclass::text, ', ' ORDER BY c.oid) || ' IN ACCESS EXCLUSIVE MODE'
        FROM pg_class c WHERE c.relnamespace = 'jobstats'::regnamespace AND c.relkind IN ('r', 'p') AND c.relhassubclass);
    UPDATE jobstats.attached a SET left_out_since = CASE WHEN leave_out THEN now() END WHERE a.name = turn_node.name;
    PERFORM jobstats_internal.hide_node(turn_node.name, kinds || text 'accounting');
    PERFORM jobstats_internal.show_node(turn_node.name, kinds);
    PERFORM jobstats_internal.show_accounting();
    RAISE WARNING '%', format(CASE WHEN leave_out THEN 'node "%s" is left out: it %s' ELSE 'node "%s" is shown again' END, turn_node.name,
        (SELECT a.problem FROM jobstats.attached a WHERE a.name = turn_node.name));
    RETURN 1;
END
$$;
COMMENT ON FUNCTION jobstats_internal.turn_node IS
'Internal: leaves out a node that does not answer, or shows it again once it answers, and returns 1; NULL: no change. Its last known targets stay.';

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
        RETURN NEXT jsonb_build_object(text 'target', attached.name, text 'server', 'jobstats ' || attached.version, text 'states', ARRAY[text 'node'],
            text 'last_observation', attached.last_observation, text 'remedy', attached.problem);
    END LOOP;
    limited := jobstats_internal.limit_wait();
    IF all_answer THEN
        RETURN QUERY
        SELECT jsonb_build_object(text 'cluster', t.cluster, text 'target', t.name, text 'states', ARRAY[text 'node'], text 'remedy',
            format('Nodes %s have this target. All servers of the target must feed one of them; on the others: SELECT jobstats_alter_target(%L, %L, retired => true);', t.nodes, t.name, t.cluster))
        FROM jobstats_internal.targets_of_two() t;
    END IF;
    PERFORM jobstats_internal.end_wait(limited);
    RETURN QUERY
    SELECT jsonb_build_object(text 'states', ARRAY[text 'maintenance'], text 'remedy',
        format('The nodes were last checked at %s. Schedule CALL jobstats_maintain(); every minute.', date_trunc('second', c.checked)))
    FROM (SELECT min(a.checked) AS checked FROM jobstats.attached a) c
    WHERE c.checked < now() - interval '1 hour';
END
$$;
COMMENT ON FUNCTION jobstats_internal.health_of_front IS
'Internal: the rows of jobstats.health of the nodes that answer, a row for each node, and one for each target of more than one node.';
