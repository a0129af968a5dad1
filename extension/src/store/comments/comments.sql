-- Returns the COMMENT ON statements for relations of the store and their columns whose comment is missing or different.
--
-- A meaning describes a relation, if it names no column; a column of one or more relations; or, if it names no relation, all other
-- columns of that name. A relation without a meaning belongs to another owner.
-- $1, $2, $3: relations, columns and meanings that follow from lists in the code.
WITH meanings (relation, name, meaning) AS (
    VALUES
    @columns@,
    @tables@,
    @jobs@,
    @observations@,
    @events@,
    @views@
    UNION ALL
    SELECT listed.relation, listed.name, listed.meaning
    FROM unnest($1::text[], $2::text[], $3::text[]) AS listed (relation, name, meaning)
),
-- The planner expects one relation, and would join the meanings with each column one by one.
known AS MATERIALIZED (
    SELECT jsonb_object_agg(concat(r.relation, '.', m.name), m.meaning) AS meanings
    FROM meanings m LEFT JOIN LATERAL string_to_table(m.relation, ' ') AS r (relation) ON true
),
relations AS (
    SELECT c.oid, c.relkind, c.relname AS name, k.meanings, k.meanings ->> concat(c.relname, '.') AS meaning
    FROM pg_class c
    CROSS JOIN known k
    WHERE c.relnamespace = to_regnamespace('jobstats') AND c.relkind IN ('r', 'p', 'v') AND k.meanings ? concat(c.relname, '.')
),
columns AS (
    SELECT r.name AS relation, a.attname AS name, col_description(r.oid, a.attnum) AS description,
        coalesce(r.meanings ->> concat(r.name, '.', a.attname), r.meanings ->> concat('.', a.attname)) AS meaning
    FROM relations r
    JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
),
statements AS (
    SELECT 'COMMENT ON SCHEMA jobstats IS ''The store of the extension jobstats, created and maintained by jobstats_setup().''' AS statement
    UNION ALL
    SELECT format('COMMENT ON %s jobstats.%I IS %L', CASE r.relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END, r.name, r.meaning)
    FROM relations r
    WHERE r.meaning IS DISTINCT FROM obj_description(r.oid, 'pg_class')
    UNION ALL
    -- A column without a meaning also belongs to another owner.
    SELECT format('COMMENT ON COLUMN jobstats.%I.%I IS %L', c.relation, c.name, c.meaning)
    FROM columns c
    WHERE c.meaning <> coalesce(c.description, '')
)
SELECT string_agg(s.statement, '; ') AS statements FROM statements s
