-- Whether nodes answer.
CREATE FUNCTION jobstats_internal.nodes_of_front() RETURNS TABLE (
    name text, node integer, accounting boolean, version text, targets bigint, last_observation timestamptz, refreshed timestamptz, problem text
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    is_other boolean;
BEGIN
    FOR name, node, accounting IN SELECT a.name, a.node, a.accounting FROM jobstats.attached a ORDER BY a.node LOOP
        version := NULL; targets := NULL; last_observation := NULL; refreshed := NULL;
        BEGIN
            EXECUTE format('SELECT s.version, s.targets, s.last_observation, s.refreshed, s.node <> %s FROM jobstats.%I s', node, name || ' node_state')
                INTO STRICT version, targets, last_observation, refreshed, is_other;
            problem := CASE WHEN is_other THEN format('is another store than the one that was attached: SELECT jobstats_detach(%L);', name)
                WHEN version <> (SELECT e.extversion FROM pg_extension e WHERE e.extname = 'jobstats')
                THEN format('is of version %s: bring node and front to the same version, and then SELECT jobstats_attach(%L);', version, name) END;
        EXCEPTION WHEN OTHERS THEN
            problem := format('does not answer: %s. Questions fail until it does, or until SELECT jobstats_detach(%L);', SQLERRM, name);
        END;
        RETURN NEXT;
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_internal.nodes_of_front() IS
'Internal: what jobstats_nodes() returns.';

CREATE FUNCTION jobstats_internal.health_of_front() RETURNS SETOF jsonb
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    attached record;
BEGIN
    FOR attached IN SELECT n.* FROM jobstats_internal.nodes_of_front() n LOOP
        IF attached.problem IS NULL THEN
            BEGIN
                RETURN QUERY EXECUTE format('SELECT to_jsonb(h) FROM jobstats.%I h', attached.name || ' health');
            EXCEPTION WHEN OTHERS THEN
                attached.problem := SQLERRM;
            END;
        END IF;
        IF attached.problem IS NOT NULL THEN
            RETURN NEXT jsonb_build_object(text 'target', attached.name, text 'status', text 'node', text 'last_observation', attached.last_observation,
                text 'remedy', attached.problem);
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_internal.health_of_front() IS
'Internal: the rows of jobstats.health of the nodes that answer, and a row for each other node.';

CREATE FUNCTION jobstats_nodes() RETURNS TABLE (
    name text, node integer, accounting boolean, version text, targets bigint, last_observation timestamptz, refreshed timestamptz, problem text
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM jobstats_internal.require_store();
    RETURN QUERY SELECT * FROM jobstats_internal.nodes_of_front();
END
$$;
COMMENT ON FUNCTION jobstats_nodes() IS
'Lists the nodes of a front. Each row has the number of the node, whether names and jobs are shown as it knows them, the version of its store, how many targets it has, its last observation and up to when its rollups of ten minutes are refreshed; problem says what is in the way, else NULL. No row: this store is no front. Errors: 55000 where there is no store.';
