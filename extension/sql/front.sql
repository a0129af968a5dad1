-- The relations that show the rows of the nodes of a front; all others are local. The columns of a new table decide its kind.
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
    AND c.relname NOT IN ('attached', 'feed', 'finding_progress', 'finding_sizes', 'forgotten', 'front_nodes', 'locks', 'maintenance', 'members', 'pseudonym_readers', 'parts',
        'secrets', 'settings', 'proxies', 'sweep', 'texts', 'to_identify', 'to_match', 'to_resolve', 'to_summarize', 'watch', 'windows', 'writers')
$$;
COMMENT ON FUNCTION jobstats_internal.front_relations IS
'Internal: the relations that show rows of nodes in a front. ranges: partitions by target_id; union: children; accounting: a child on the node with accounting; merged: a view that sums or compares nodes; derived: a view of another of these.';

CREATE FUNCTION jobstats_internal.merged_view(relation text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE relation
-- A rollup is complete as far as all nodes have it.
WHEN 'rollups' THEN 'SELECT n.level, n.width, coalesce(nullif(min(n.refreshed), ''infinity''), ''epoch'') AS refreshed, max(n.dropped) AS dropped,
    coalesce(nullif(min(n.users_refreshed), ''infinity''), ''epoch'') AS users_refreshed,
    CASE WHEN count(n.retention) = count(*) THEN max(n.retention) END AS retention
    FROM jobstats.rollup_states n GROUP BY n.level, n.width'
WHEN 'refresh' THEN 'SELECT true AS one, max(n.number) AS number, max(n.settled) AS settled, max(n.announced) AS announced, min(n.horizon) AS horizon,
    max(n.dropped) AS dropped, min(n.matched) AS matched, max(n.clock) AS clock
    FROM jobstats."of nodes refresh" n HAVING count(*) > 0'
-- A node has summed its targets.
WHEN 'used' THEN 'SELECT n.day, n.cluster, n.filesystem, n.kind, n.id, sum(n.kbytes) AS kbytes, sum(n.inodes) AS inodes, sum(n.targets)::bigint AS targets
    FROM jobstats."of nodes used" n GROUP BY n.day, n.kind, n.cluster, n.filesystem, n.id'
WHEN 'job_summaries' THEN 'SELECT min(n.job_no) AS job_no, n.scheduler, n.job, n.label, n.runs, n.submitted, n.started, n.ended, n.run_time, n.uid, n.user_name,
    n.gid, n.group_name, n.account, n."partition", n.qos, n.job_name, n.state, n.exit_code, n.nodes, n.cpus, min(n.first) AS first,
    max(n.last_active) AS last_active, max(n.active_nodes) AS active_nodes, sum(n.targets)::bigint AS targets, sum(n.read_bytes) AS read_bytes,
    sum(n.write_bytes) AS write_bytes, sum(n.read) AS read, sum(n.write) AS write, sum(n.opens) AS opens, sum(n.metadata) AS metadata,
    trim_scale(sum(n.service_time)) AS service_time, max(n.energy) AS energy, sum(n.in_service) AS in_service,
    (array_agg(n.busiest_target ORDER BY n.service_time DESC NULLS LAST, n.busiest_target))[1] AS busiest_target,
    jobstats_internal.added_up(jsonb_agg(n.operations)) AS operations, max(n.made) AS made
    FROM jobstats."of nodes job_summaries" n
    GROUP BY n.scheduler, n.job, n.label, n.runs, n.submitted, n.started, n.ended, n.run_time, n.uid, n.user_name, n.gid, n.group_name, n.account,
        n."partition", n.qos, n.job_name, n.state, n.exit_code, n.nodes, n.cpus'
WHEN 'health' THEN 'SELECT (jsonb_populate_record(NULL::jobstats."of nodes health", h.health)).* FROM jobstats_internal.health_of_front() h (health)'
WHEN 'maintenance_state' THEN 'SELECT min(n.completed) AS completed, nullif(string_agg(n.problem, text ''; ''), '''') AS problem,
    bool_or(n.is_overdue) AS is_overdue
    FROM jobstats."of nodes maintenance_state" n'
-- A front is not a node.
WHEN 'node_state' THEN 'SELECT s.node, s.front, s.version, NULL::text AS sorting, NULL::oid AS database, NULL::timestamptz AS started, NULL::bigint AS targets,
    NULL::timestamptz AS last_observation, NULL::timestamptz AS refreshed
    FROM jobstats.settings s'
END
$$;
COMMENT ON FUNCTION jobstats_internal.merged_view IS 'Internal: the query of a view of a front that sums or compares rows of nodes.';

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
COMMENT ON FUNCTION jobstats_internal.added_up IS
'Internal: the calls and seconds of each operation in an array of job_summaries.operations, added up.';

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
        EXECUTE format('CREATE TABLE jobstats.%I (LIKE jobstats.%I)%s',
            CASE kinds[n] WHEN 'merged' THEN 'of nodes ' ELSE 'new ' END || relations[n], relations[n],
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
    PERFORM jobstats_internal.give_replica_identity();
END
$$;
COMMENT ON FUNCTION jobstats_internal.make_front IS
'Internal: replaces the tables of an empty store by tables whose partitions and children are foreign tables of nodes.';

CREATE FUNCTION jobstats_internal.drop_relations(relations text[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET client_min_messages = warning
AS $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT format('DROP %s IF EXISTS jobstats.%I CASCADE', CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END, c.relname)
        FROM pg_class c WHERE c.relnamespace = to_regnamespace('jobstats') AND c.relname = ANY (relations)
    LOOP
        -- CASCADE may have dropped it already.
        EXECUTE statement;
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_internal.drop_relations IS 'Internal: drops relations of a store with all that depends on them.';

CREATE FUNCTION jobstats_internal.unmake_front() RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
SELECT jobstats_internal.drop_relations(ARRAY(
    SELECT r.relation FROM jobstats_internal.front_relations() r
    UNION ALL
    SELECT c.relname FROM pg_class c WHERE c.relnamespace = to_regnamespace('jobstats') AND c.relname LIKE 'of nodes %' AND c.relkind = 'r'))
$$;
COMMENT ON FUNCTION jobstats_internal.unmake_front IS 'Internal: drops the relations that show rows of nodes in a front, to rebuild them.';

CREATE FUNCTION jobstats_internal.build_front() RETURNS void
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET client_min_messages = warning
AS 'MODULE_PATHNAME', 'jobstats_build_front_wrapper';
COMMENT ON FUNCTION jobstats_internal.build_front IS 'Internal: creates the relations of a front, with those of all attached nodes.';

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
                CASE WHEN it.relation IN ('raw', 'raw_text', 'evidence', 'rejects', 'target_snapshots') THEN ', fetch_size ''100'''
                    -- While a connection is busy with one table, PostgreSQL cannot scan the next one on all nodes at once. Tables that are
                    -- joined with increments are therefore read node by node.
                    WHEN it.relation IN ('entries', 'entry_jobs') THEN ', async_capable ''false'''
                    -- These are small: an estimate by the node costs more than it saves.
                    WHEN it.relation IN ('coarse', 'dirty', 'dirty_users', 'refresh', 'rollup_states', 'targets', 'spans', 'observed_spans', 'question_state', 'observation_ends', 'last_observations', 'paces',
                        'users', 'earlier_users', 'groups', 'earlier_groups', 'nodes') THEN ', use_remote_estimate ''false'', async_capable ''false''' END);
        ELSIF it.relation = 'targets' THEN
            -- Missing targets are counted, and known by name.
            EXECUTE format('CREATE TABLE jobstats.%I' || it.partition, it.part);
            PERFORM jobstats_internal.give_replica_identity();
            BEGIN
                INSERT INTO jobstats.targets SELECT t.* FROM jsonb_populate_recordset(NULL::jobstats.targets, attached.known_targets) t
                -- A node may report targets of other nodes.
                WHERE (t.target_id - 1) / 65536 = attached.node;
            EXCEPTION WHEN integrity_constraint_violation OR data_exception THEN
                -- The list that the node sent may be invalid.
                RAISE WARNING 'targets of node "%" are unknown: %', attached.name, SQLERRM;
            END;
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_internal.show_node IS
'Internal: creates the tables of these kinds of an attached node: foreign tables, or for a node that is left out, a table of its last known targets.';

CREATE FUNCTION jobstats_internal.hide_node(name text, kinds text[]) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
SELECT jobstats_internal.drop_relations(ARRAY(
    SELECT hide_node.name || ' ' || r.relation FROM jobstats_internal.front_relations() r WHERE r.kind = ANY (hide_node.kinds)))
$$;
COMMENT ON FUNCTION jobstats_internal.hide_node IS 'Internal: drops the tables of these kinds of an attached node.';

CREATE FUNCTION jobstats_internal.show_accounting() RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
SELECT jobstats_internal.hide_node(a.name, '{accounting}') FROM jobstats.attached a;
SELECT jobstats_internal.show_node(a.name, '{accounting}') FROM jobstats_internal.accounting_node() AS a (name) WHERE a.name IS NOT NULL
$$;
COMMENT ON FUNCTION jobstats_internal.show_accounting IS 'Internal: shows names and jobs of the node that provides them.';

CREATE FUNCTION jobstats_internal.accounting_node() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT a.name FROM jobstats.attached a WHERE a.left_out_since IS NULL ORDER BY a.accounting DESC, a.node LIMIT 1
$$;
COMMENT ON FUNCTION jobstats_internal.accounting_node IS
'Internal: the node that provides names and jobs: the one with accounting, or the lowest number while that is left out; NULL: all are left out.';
