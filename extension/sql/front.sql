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
    AND c.relname NOT IN ('attached', 'feed', 'finding_progress', 'finding_sizes', 'forgotten', 'front_nodes', 'locks', 'maintenance', 'members', 'pseudonym_readers', 'parts',
        'secrets', 'settings', 'proxies', 'sweep', 'texts', 'to_identify', 'to_match', 'to_resolve', 'to_summarize', 'watch', 'windows', 'writers')
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

-- The number of a store among the nodes of a front. What rows of several nodes are known by has numbers in ranges of each node.

-- Rows are known by the same number wherever a column has its name. A table that a later version adds is one of these, by its columns.
CREATE FUNCTION jobstats_internal.numbered_relations() RETURNS TABLE (relation regclass, columns name[], gives text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT c.oid::regclass, array_agg(a.attname), max(a.attname) FILTER (WHERE a.attidentity <> '')
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname IN ('target_id', 'job_no', 'series_id', 'event_id', 'entry_id') AND NOT a.attisdropped
WHERE c.relnamespace = to_regnamespace('jobstats') AND NOT c.relispartition AND c.relkind IN ('r', 'p')
GROUP BY c.oid
$$;
COMMENT ON FUNCTION jobstats_internal.numbered_relations() IS
'Internal: the tables that have numbers of targets, jobs, series and events, or keys of entries, with these columns, and the one that an identity gives its numbers.';

CREATE FUNCTION jobstats_internal.lock_everything() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET lock_timeout = '3s'
AS $$
DECLARE
    relation regclass;
    began timestamptz := clock_timestamp();
BEGIN
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
'Internal: keeps feeds, maintenance and readers out until the transaction ends, so that rows of any time can be changed. Error: 55P03 where one, or a conversion, is at work.';

CREATE FUNCTION jobstats_internal.first_target(node integer) RETURNS integer
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
RETURN node * 65536 + 1;
COMMENT ON FUNCTION jobstats_internal.first_target(integer) IS 'Internal: the first number of a target of the node of this number.';

CREATE FUNCTION jobstats_internal.first_number(name name, node integer) RETURNS bigint
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
RETURN CASE name WHEN 'target_id' THEN jobstats_internal.first_target(node) ELSE (bigint '1' << 40) * node + 1 END;
COMMENT ON FUNCTION jobstats_internal.first_number(name, integer) IS
'Internal: the first number that an identity of this name gives on the node of this number.';

CREATE FUNCTION jobstats_internal.renumber(old integer, new integer) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- A copy of a store knows the same entries by the same keys, until it gets a number.
    inverted CONSTANT bigint := ('x' || left(encode(sha256(uuid_send(gen_random_uuid())), 'hex'), 16))::bit(64)::bigint;
    it record;
    next bigint;
BEGIN
    -- A columnstore cannot change the numbers by which it batches rows; maintenance packs them again.
    FOR it IN SELECT h.hypertable FROM jobstats_internal.hypertables() h WHERE h.packed_by IS NOT NULL LOOP
        EXECUTE format('SELECT count(%s.decompress_chunk(format(''%%I.%%I'', c.chunk_schema, c.chunk_name)::regclass)) FROM timescaledb_information.chunks c
            WHERE c.is_compressed AND format(''%%I.%%I'', c.hypertable_schema, c.hypertable_name)::regclass = $1', jobstats_internal.timescale_schema()) USING it.hypertable;
    END LOOP;
    FOR it IN SELECT n.* FROM jobstats_internal.numbered_relations() n LOOP
        IF it.gives IS NOT NULL THEN
            -- One that has given no number since the store got its number goes on behind those of before.
            EXECUTE format('SELECT s.last_value + s.is_called::integer FROM %s s', pg_get_serial_sequence(it.relation::text, it.gives)) INTO next;
            EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET GENERATED BY DEFAULT', it.relation, it.gives);
        END IF;
        EXECUTE format('UPDATE %s SET %s', it.relation, (
            SELECT string_agg(CASE c.name WHEN 'entry_id' THEN format('entry_id = entry_id # %s', inverted)
                ELSE format('%1$I = %1$I + %2$s', c.name, jobstats_internal.first_number(c.name, new - old) - 1) END, ', ')
            FROM unnest(it.columns) AS c (name)));
        IF it.gives IS NOT NULL THEN
            EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET GENERATED ALWAYS SET MAXVALUE %s RESTART WITH %s', it.relation, it.gives,
                jobstats_internal.first_number(it.gives, new + 1) - 1, next + jobstats_internal.first_number(it.gives, new - old) - 1);
        END IF;
    END LOOP;
    PERFORM jobstats_internal.reset_realtime();
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
        IF prepare_number.node <> (SELECT s.node FROM jobstats.settings s) THEN
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

CREATE FUNCTION jobstats_internal.build_front() RETURNS void
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET client_min_messages = warning
AS 'MODULE_PATHNAME', 'jobstats_build_front_wrapper';
COMMENT ON FUNCTION jobstats_internal.build_front() IS
'Internal: makes the relations of a front, with those of all attached nodes.';

CREATE FUNCTION jobstats_internal.limit_wait() RETURNS boolean
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'jobstats_limit_wait_wrapper';
COMMENT ON FUNCTION jobstats_internal.limit_wait() IS
'Internal: limits how long this session waits for nodes from now on; false: something around has limited it.';

CREATE FUNCTION jobstats_internal.end_wait(limited boolean) RETURNS text
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'jobstats_end_wait_wrapper';
COMMENT ON FUNCTION jobstats_internal.end_wait(boolean) IS
'Internal: ends the limit of jobstats_internal.limit_wait() if that has returned true. Returns the message if the limit was reached, else NULL.';

CREATE FUNCTION jobstats_internal.require_own_rows() RETURNS void
LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'jobstats_require_own_rows_wrapper';
COMMENT ON FUNCTION jobstats_internal.require_own_rows() IS
'Internal: fails with 55000 where the store is missing, and in a front, which has no rows of its own.';
