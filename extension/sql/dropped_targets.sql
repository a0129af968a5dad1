-- Divides a store: each of two copies drops the targets that the other one keeps.
--
-- Sums over targets that cannot be divided stay whole in one of the copies: used space of days with the first target of its file
-- system, all others with the first target of the store.

CREATE FUNCTION jobstats_internal.require_droppable(gone integer[], cluster text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    other text;
BEGIN
    IF gone = '{}' THEN
        RAISE invalid_parameter_value USING MESSAGE = format('no target of cluster %L has such a name', left(cluster, 60)),
            HINT = 'Give names in jobstats.targets, or patterns with *, and the cluster.';
    END IF;
    SELECT string_agg(t.name, ', ' ORDER BY t.name) INTO other
    FROM (SELECT t.name FROM jobstats.targets t WHERE t.target_id = ANY (gone) AND t.retired IS NULL ORDER BY t.name LIMIT 5) t;
    IF other IS NOT NULL THEN
        RAISE object_not_in_prerequisite_state USING MESSAGE = format('these targets may report again: %s', other),
            HINT = 'Make their servers feed another node, and retire each target: jobstats_alter_target(name, retired => true).';
    END IF;
    SELECT string_agg(s.server, ', ' ORDER BY s.server) INTO other
    FROM (SELECT s.server FROM jobstats_internal.servers_of_targets(gone) s WHERE s.is_gone AND s.is_kept ORDER BY s.server LIMIT 5) s;
    IF other IS NOT NULL THEN
        RAISE object_not_in_prerequisite_state USING MESSAGE = format('servers have reported these targets and others: %s', other),
            HINT = 'Drop all targets that these servers can have, or do not drop any.';
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.require_droppable IS
'Internal: fails with 22023 without targets, with 55000 for targets that are not retired or that share a server with others.';

CREATE FUNCTION jobstats_internal.servers_of_targets(gone integer[]) RETURNS TABLE (cluster text, server text, is_gone boolean, is_kept boolean)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT t.cluster, o.server, bool_or(t.target_id = ANY (gone)), bool_or(t.target_id <> ALL (gone))
FROM jobstats.targets t
CROSS JOIN LATERAL (SELECT DISTINCT o.server FROM jobstats.observations o WHERE o.target_id = t.target_id) o
GROUP BY t.cluster, o.server
$$;
COMMENT ON FUNCTION jobstats_internal.servers_of_targets IS
'Internal: the servers that have reported targets, and whether they have reported any of these, and any others.';

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
            -- Every node gets the texts of users and jobs.
            AND c.relname NOT IN ('texts', 'feed', 'writers')
        GROUP BY c.relname HAVING array_agg(a.attname) @> '{cluster,server}'
    LOOP
        EXECUTE format('DELETE FROM jobstats.%I WHERE (%s)%s', relation, replace(condition, '$server', 'server'),
            CASE relation WHEN 'sample_series' THEN ' AND target_id IS NULL'
                -- A row that expects a target on any server is deleted with the target.
                WHEN 'expected' THEN ' AND (server IS NOT NULL OR NOT EXISTS (
                    SELECT FROM jobstats.targets t WHERE t.cluster = expected.cluster AND t.name = expected.target))' END)
            USING dropped, kept, everything_else;
    END LOOP;
    EXECUTE format('DELETE FROM jobstats.events WHERE targets = ''{}'' AND servers <> ''{}'' AND (%s)', replace(condition, '$server', 'servers[1]'))
        USING dropped, kept, everything_else;
END
$$;
COMMENT ON FUNCTION jobstats_internal.drop_servers IS
'Internal: deletes the rows of the servers of these targets; everything_else: also of servers without a known target.';

CREATE FUNCTION jobstats_internal.drop_sums(gone integer[], everything_else boolean) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
-- Maintenance rebuilds summaries of jobs where it still can.
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
    DELETE FROM jobstats.baseline_largest u USING filesystem f WHERE f.is_gone AND u.cluster = f.cluster AND u.filesystem = f.name
)
DELETE FROM jobstats.used u USING filesystem f WHERE f.first_is_gone AND u.cluster = f.cluster AND u.filesystem = f.name;
DELETE FROM jobstats.events e
USING (SELECT t.target_id, t.cluster, t.name FROM jobstats.targets t UNION ALL SELECT n.target_id, n.cluster, n.name FROM jobstats.earlier_names n) t
WHERE t.target_id = ANY (gone) AND e.cluster = t.cluster AND e.targets[1] = t.name;
DELETE FROM jobstats.expected e USING jobstats.targets t WHERE t.target_id = ANY (gone) AND e.cluster = t.cluster AND e.target = t.name;
$$;
COMMENT ON FUNCTION jobstats_internal.drop_sums IS
'Internal: deletes sums of file systems whose first target is in gone; everything_else: also job summaries that cannot be rebuilt.';

CREATE FUNCTION jobstats_internal.drop_targets(arguments jsonb) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    gone integer[];
    everything_else boolean;
    it record;
BEGIN
    -- The first round rejects without a lock; the second checks again under the locks.
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
    PERFORM jobstats_internal.drop_sums(gone, everything_else);
    PERFORM jobstats_internal.drop_servers(gone, everything_else);
    FOR it IN SELECT n.* FROM jobstats_internal.numbered_relations() n WHERE 'target_id' = ANY (n.columns) LOOP
        EXECUTE format('DELETE FROM %s r WHERE r.target_id = ANY ($1)', it.relation) USING gone;
    END LOOP;
    FOR it IN SELECT n.* FROM jobstats_internal.numbered_relations() n WHERE 'series_id' = ANY (n.columns) AND n.gives IS NULL LOOP
        EXECUTE format('DELETE FROM %s r WHERE NOT EXISTS (SELECT FROM jobstats.sample_series s WHERE s.series_id = r.series_id)', it.relation);
    END LOOP;
    PERFORM jobstats_internal.reset_realtime();
    RETURN cardinality(gone);
END
$$;
COMMENT ON FUNCTION jobstats_internal.drop_targets IS 'Internal: implements jobstats_drop_targets().';

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
COMMENT ON FUNCTION jobstats_drop_targets IS
'Deletes retired targets with all of their data. Use it to divide a store whose copy has them; it cannot be undone. targets: names or patterns with *. Returns their number. Errors: 22004, 22023 no such target, 55000 not retired, shared server or front, 55P03 busy, call it again, 25006, 42501.';
