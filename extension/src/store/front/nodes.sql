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
