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
