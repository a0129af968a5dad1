-- All rows of a store, as if its number were 0. Whole rows of a columnstore fail in TimescaleDB 2.28 without OFFSET 0.
\pset format unaligned
\set ON_ERROR_STOP on
CREATE FUNCTION pg_temp.stored(relation text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    found text;
BEGIN
    EXECUTE format('SELECT format(''%%s rows %%s'', count(*), md5(string_agg(r.row::text, E''\n'' ORDER BY r.row::text COLLATE "C")))
        FROM (
            SELECT j.row || jsonb_build_object(''entry_id'', e.name, ''target_id'', ((j.row ->> ''target_id'')::bigint - 1) %% 65536,
                ''job_no'', (j.row ->> ''job_no'')::bigint %% (1::bigint << 40), ''series_id'', (j.row ->> ''series_id'')::bigint %% (1::bigint << 40),
                ''event_id'', (j.row ->> ''event_id'')::bigint %% (1::bigint << 40)) AS row
            FROM (SELECT to_jsonb(t) - ''{node,after,clock}''::text[] AS row FROM (SELECT * FROM jobstats.%I OFFSET 0) t) j
            LEFT JOIN jobstats.entries e ON e.entry_id = (j.row ->> ''entry_id'')::bigint) r', relation) INTO found;
    RETURN found;
END
$$;
SELECT c.relname, pg_temp.stored(c.relname)
FROM pg_class c
WHERE c.relnamespace = 'jobstats'::regnamespace AND (c.relkind IN ('r', 'p') OR c.relkind = 'v' AND c.relname LIKE 'rollup\_%') AND NOT c.relispartition
    AND c.relname NOT IN ('locks', 'secrets', 'nodes')
ORDER BY c.relname COLLATE "C";
