-- The number of a store among the nodes of a front. What rows of several nodes are known by has numbers in ranges of each node.
CREATE FUNCTION jobstats_internal.number_store(node integer) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    it record;
BEGIN
    IF number_store.node IS NULL OR number_store.node = (SELECT s.node FROM jobstats.settings s) THEN
        RETURN;
    ELSIF number_store.node NOT BETWEEN 0 AND 32766 THEN
        RAISE invalid_parameter_value USING
            MESSAGE = format('node must be from 0 to 32766, not %s', number_store.node), HINT = 'Each node of a front has a number of its own.';
    ELSIF EXISTS (SELECT FROM jobstats.targets) OR EXISTS (SELECT FROM jobstats.job_ids) OR EXISTS (SELECT FROM jobstats.sample_series) THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = format('this store has the number %s, and rows that have theirs by it', (SELECT s.node FROM jobstats.settings s)),
            HINT = 'Give the other nodes of the front other numbers, before they are fed.';
    END IF;
    UPDATE jobstats.settings s SET node = number_store.node;
    EXECUTE format('ALTER TABLE jobstats.targets ALTER COLUMN target_id SET MAXVALUE %s RESTART WITH %s',
        least((number_store.node + 1) * bigint '65536', 2147483647), jobstats_internal.first_target(number_store.node));
    FOR it IN SELECT * FROM (VALUES ('job_ids', 'job_no'), ('sample_series', 'series_id'), ('events', 'event_id')) AS i (relation, name) LOOP
        EXECUTE format('ALTER TABLE jobstats.%I ALTER COLUMN %I RESTART WITH %s', it.relation, it.name, (bigint '1' << 40) * number_store.node + 1);
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_internal.number_store(integer) IS
'Internal: gives a store without targets, jobs and series its number among the nodes of a front; NULL: it keeps that. Errors: 22023 for a number out of range, 55000 where there are such rows.';
