-- The tables that exist while a conversion is under way. They belong to the store, so that feeds continue even if the
-- extension is dropped.

CREATE TABLE IF NOT EXISTS jobstats.converting (
    relation text PRIMARY KEY,
    destination text NOT NULL,
    key text NOT NULL,
    columns text NOT NULL,
    state text NOT NULL DEFAULT 'prepared' CHECK (state IN ('prepared', 'copying', 'following')),
    rounds integer NOT NULL DEFAULT 0,
    following_since xid8
);
COMMENT ON TABLE jobstats.converting IS
'The table that jobstats_convert() is replacing: its rows are copied to destination, jobstats.new_….';

CREATE TABLE IF NOT EXISTS jobstats.converting_spans (
    relation text NOT NULL,
    span_from timestamptz NOT NULL,
    span_to timestamptz NOT NULL,
    PRIMARY KEY (relation, span_from)
);
COMMENT ON TABLE jobstats.converting_spans IS 'Spans whose rows jobstats_convert() has yet to copy.';

CREATE TABLE IF NOT EXISTS jobstats.converting_changes (
    relation text NOT NULL,
    target_id integer NOT NULL,
    low timestamptz NOT NULL,
    high timestamptz NOT NULL
);
COMMENT ON TABLE jobstats.converting_changes IS
'Rows written or deleted since jobstats_convert() began to copy, up to and including high.';

-- Feeds of one target wait for each other, and so do those of one server: by its hash, which stands in the place of a target.
CREATE OR REPLACE FUNCTION jobstats.converting_whose(columns text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
RETURN CASE WHEN columns ~ '\mtarget_id\M' THEN 'target_id' ELSE 'hashtext(concat(cluster, ''/'', server))' END;
REVOKE ALL ON FUNCTION jobstats.converting_whose(text) FROM PUBLIC;
COMMENT ON FUNCTION jobstats.converting_whose(text) IS
'Internal: the expression that tells the rows of a relation apart of which the feeds wait for each other.';

-- Makes the copy of the changed rows equal to the original. The caller has committed these changes, or is the only one
-- who writes rows of these targets.
CREATE OR REPLACE FUNCTION jobstats.converting_replay(relation text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    it jobstats.converting;
    part record;
    copied bigint;
    total bigint := 0;
    whose text;
BEGIN
    SELECT * INTO STRICT it FROM jobstats.converting c WHERE c.relation = converting_replay.relation;
    whose := jobstats.converting_whose(it.columns);
    FOR part IN
        WITH changes AS (
            DELETE FROM jobstats.converting_changes d WHERE d.relation = it.relation
            RETURNING d.target_id, tstzrange(date_bin('10 s', d.low, 'epoch'), date_bin('10 s', d.high, 'epoch') + interval '10 s') AS span
        )
        SELECT lower(s.span) AS low, upper(s.span) AS high, array_agg(DISTINCT c.target_id) AS targets
        FROM (SELECT unnest(range_agg(span)) AS span FROM changes) s JOIN changes c ON c.span && s.span
        GROUP BY s.span
    LOOP
        EXECUTE format('DELETE FROM %s WHERE %s = ANY ($1) AND %I >= $2 AND %3$I < $3', it.destination, whose, it.key)
            USING part.targets, part.low, part.high;
        EXECUTE format('INSERT INTO %s (%s) SELECT %2$s FROM jobstats.%I WHERE %s = ANY ($1) AND %I >= $2 AND %5$I < $3',
            it.destination, it.columns, it.relation, whose, it.key) USING part.targets, part.low, part.high;
        GET DIAGNOSTICS copied = ROW_COUNT;
        total := total + copied;
    END LOOP;
    RETURN total;
END
$$;
REVOKE ALL ON FUNCTION jobstats.converting_replay(text) FROM PUBLIC;
COMMENT ON FUNCTION jobstats.converting_replay(text) IS
'Internal: makes the copy of what changed the same as the original, and returns the number of rows copied.';

CREATE OR REPLACE FUNCTION jobstats.converting_note() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    it jobstats.converting;
BEGIN
    SELECT * INTO it FROM jobstats.converting c WHERE c.relation = TG_TABLE_NAME;
    IF FOUND THEN
        EXECUTE format(
            'INSERT INTO jobstats.converting_changes SELECT $1, %2$s, min(c.%1$I), max(c.%1$I) FROM changed c GROUP BY %2$s',
            it.key, jobstats.converting_whose(it.columns)) USING it.relation;
        IF it.state = 'following' THEN
            PERFORM jobstats.converting_replay(it.relation);
        END IF;
    END IF;
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION jobstats.converting_note() FROM PUBLIC;
COMMENT ON FUNCTION jobstats.converting_note() IS
'Internal: notes what is written to a table that jobstats_convert() is replacing.';
