-- The parts of the store's tables: columns, keys, indexes and triggers. jobstats_setup() creates the tables once more, empty and
-- in a schema of their own, from the same definitions, and keeps their parts in jobstats.parts. What jobstats.parts names and
-- the store does not have is damage.

-- Definitions look as settings of the session want them, and are compared with those that another session noted.
CREATE FUNCTION jobstats_internal.parts(schema text) RETURNS TABLE (relation text, kind text, name text, definition text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, MDY' SET intervalstyle = 'postgres' SET quote_all_identifiers = off
AS $$
WITH tables AS (
    SELECT c.oid, c.relname::text AS relation FROM pg_class c
    WHERE c.relnamespace = to_regnamespace(parts.schema) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
)
SELECT t.relation, 'column', a.attname::text, concat(format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN ' NOT NULL' END,
    CASE WHEN a.attidentity = 'a' THEN ' GENERATED ALWAYS AS IDENTITY' END, ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid))
FROM tables t
JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
UNION ALL
SELECT t.relation, 'key', k.conname, pg_get_constraintdef(k.oid)
FROM tables t JOIN pg_constraint k ON k.conrelid = t.oid AND k.contype IN ('p', 'u')
UNION ALL
SELECT t.relation, 'index', c.relname, concat(CASE WHEN i.indisunique THEN 'UNIQUE ' END, substring(pg_get_indexdef(c.oid) FROM ' USING (.*)'))
FROM tables t
JOIN pg_index i ON i.indrelid = t.oid AND i.indisvalid
JOIN pg_class c ON c.oid = i.indexrelid
WHERE NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = c.oid AND k.contype IN ('p', 'u'))
UNION ALL
-- Functions of the triggers of the store are in its schema; while it is converted there are more.
SELECT c.relname, 'trigger', g.tgname, ''
FROM pg_class c
JOIN pg_trigger g ON g.tgrelid = c.oid AND NOT g.tgisinternal AND g.tgenabled <> 'D' AND g.tgname !~ '^converting_'
JOIN pg_proc p ON p.oid = g.tgfoid AND p.pronamespace = c.relnamespace
WHERE c.relnamespace = to_regnamespace(parts.schema)
$$;
COMMENT ON FUNCTION jobstats_internal.parts(text) IS
'Internal: the columns, keys, indexes and triggers of the tables in a schema, with the definitions by which they can be made.';

CREATE FUNCTION jobstats_internal.damage() RETURNS TABLE (relation text, kind text, name text, statement text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    WITH held AS MATERIALIZED (
        SELECT h.* FROM jobstats_internal.parts(text 'jobstats') h
    ), missing AS (
        SELECT p.* FROM jobstats.parts p
        LEFT JOIN pg_class c ON c.oid = to_regclass(format('jobstats.%I', p.relation))
        -- A table that has been converted to a continuous aggregate has other parts.
        WHERE (p.kind = 'trigger' OR c.relkind IS DISTINCT FROM 'v') AND NOT EXISTS (
            SELECT FROM held h
            WHERE h.relation = p.relation AND h.kind = p.kind
                AND CASE WHEN p.kind IN ('column', 'trigger') THEN h.name = p.name ELSE h.definition = p.definition END)
    )
    SELECT DISTINCT m.relation, 'table', m.relation, NULL
    FROM missing m WHERE to_regclass(format('jobstats.%I', m.relation)) IS NULL
    UNION ALL
    SELECT m.relation, m.kind, m.name, CASE m.kind
        WHEN 'column' THEN format('ALTER TABLE jobstats.%I ADD COLUMN %I %s', m.relation, m.name, m.definition)
        WHEN 'key' THEN format('ALTER TABLE jobstats.%I ADD CONSTRAINT %I %s', m.relation, m.name, m.definition)
        WHEN 'index' THEN format('CREATE %sINDEX %I ON jobstats.%I USING %s', substring(m.definition FROM '^UNIQUE '), m.name, m.relation,
            regexp_replace(m.definition, '^UNIQUE ', ''))
    END
    FROM missing m WHERE to_regclass(format('jobstats.%I', m.relation)) IS NOT NULL
    UNION ALL
    -- Tables that grow with time are divided by it, and a rollup that is a view is a continuous aggregate.
    SELECT c.relname, CASE c.relkind WHEN 'v' THEN 'continuous aggregate' ELSE 'hypertable' END, c.relname, NULL
    FROM pg_class c
    WHERE c.relnamespace = to_regnamespace('jobstats')
        AND (c.relname ~ '^rollup_[0-9]+[a-z](_users|_accounts|_members|_targets)?$' AND c.relkind IN ('r', 'v')
            OR c.relname IN (SELECT g.relation FROM jobstats_internal.growing_tables() g) AND c.relkind = 'r')
        AND NOT EXISTS (SELECT FROM jobstats_internal.hypertables() h WHERE h.relation = c.relname)
    ORDER BY 1, 2, 3;
END
$$;
COMMENT ON FUNCTION jobstats_internal.damage() IS
'Internal: what tables of the store lack, by what jobstats.parts says of them, and the statement that makes it; NULL: none does.';

CREATE FUNCTION jobstats_internal.damage_in_words() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT string_agg(CASE WHEN d.kind = 'table' THEN format('the table %s is missing', d.relation)
    WHEN d.kind IN ('hypertable', 'continuous aggregate') THEN format('%s is no %s any more', d.relation, d.kind)
    ELSE format('%s lacks the %s %s', d.relation, d.kind, d.name) END, ', ' ORDER BY d.relation, d.kind, d.name)
FROM jobstats_internal.damage() d
$$;
COMMENT ON FUNCTION jobstats_internal.damage_in_words() IS
'Internal: what tables of the store lack, for those who read it; NULL: nothing.';

CREATE FUNCTION jobstats_internal.mend() RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    it record;
    mended text[] := '{}';
BEGIN
    FOR it IN
        SELECT * FROM jobstats_internal.damage() d WHERE d.statement IS NOT NULL
        -- Keys and indexes need their columns.
        ORDER BY d.kind <> 'column', d.relation, d.kind, d.name
    LOOP
        BEGIN
            EXECUTE it.statement;
            mended := mended || format('%s %s of %s', it.kind, it.name, it.relation);
        EXCEPTION WHEN OTHERS THEN
            RAISE WARNING '% lacks the % %, which cannot be made: %', it.relation, it.kind, it.name, SQLERRM
                USING HINT = format('Mend this, and then run %s;', it.statement);
        END;
    END LOOP;
    RETURN nullif(array_to_string(mended, ', '), '');
END
$$;
COMMENT ON FUNCTION jobstats_internal.mend() IS
'Internal: makes what tables of the store lack, where that is possible, and returns what it made; NULL: nothing. A warning says what cannot be made.';

CREATE FUNCTION jobstats_internal.lost_increments() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
-- An observation says how many entries have increments of it. Rows of an observation just after midnight may all lie in the day before.
SELECT format('increments of %s are missing, of which observations are kept', string_agg(d.day::date::text, ', ' ORDER BY d.day))
FROM (
    SELECT generate_series(jobstats_internal.bucket(interval '1 day', min(f."time")), now(), interval '1 day') AS day
    FROM jobstats.targets t
    CROSS JOIN LATERAL (
        SELECT o."time" FROM jobstats.observations o WHERE o.target_id = t.target_id ORDER BY o."time" LIMIT 1) f
) d
WHERE d.day >= (SELECT r.dropped FROM jobstats.refresh r)
    AND EXISTS (SELECT FROM jobstats.observations o
        WHERE o."time" > d.day + interval '2 hours' AND o."time" <= d.day + interval '1 day' AND o.since > d.day AND o.active > 0)
    AND NOT EXISTS (SELECT FROM jobstats.increments i WHERE i."time" > d.day AND i."time" <= d.day + interval '1 day')
HAVING count(*) > 0
$$;
COMMENT ON FUNCTION jobstats_internal.lost_increments() IS
'Internal: the days of which increments should be stored and none is, in words; NULL: none.';

CREATE FUNCTION jobstats_internal.lost_rollups() RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    oldest timestamptz := (SELECT min(u.bucket) FROM jobstats.rollup_1d_users u);
    level jobstats.rollups;
    lost timestamptz;
    lost_all text;
BEGIN
    -- The sums by user say of which days a rollup has had rows.
    FOR level IN SELECT * FROM jobstats.rollups l ORDER BY l.width LOOP
        EXECUTE format($sql$
            SELECT p.low
            FROM generate_series($1, $2, $3) AS p (low)
            CROSS JOIN LATERAL (SELECT greatest(p.low, $4) AS low, least(p.low + $3, $2) AS high) s
            WHERE EXISTS (SELECT FROM jobstats.%I u WHERE u.bucket > s.low AND u.bucket <= s.high)
                AND NOT EXISTS (SELECT FROM jobstats.%I r WHERE r.bucket > s.low AND r.bucket <= s.high)
            ORDER BY 1 LIMIT 1
        $sql$, format('rollup_%s_users', level.level), 'rollup_' || level.level) INTO lost
        USING jobstats_internal.bucket(interval '1 day', greatest(oldest, level.dropped)), least(level.refreshed, level.users_refreshed),
            interval '1 day', level.dropped;
        IF lost IS NOT NULL THEN
            lost_all := concat_ws(', ', lost_all, format('rollup_%s has lost its rows from %s on', level.level, lost::date));
        END IF;
    END LOOP;
    RETURN lost_all;
END
$$;
COMMENT ON FUNCTION jobstats_internal.lost_rollups() IS
'Internal: the rollups that have no rows in a day of which sums by user are kept, in words; NULL: none.';
