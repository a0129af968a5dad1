-- Prints stored rows and the answers of reading functions, to compare two databases. The window consists of complete days before the last
-- observation, so that it is the same in both.
\pset format unaligned
\pset null NULL
\pset footer off

CREATE FUNCTION pg_temp.stored(relation text, ignored text[] DEFAULT '{}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    found text;
BEGIN
    EXECUTE format('SELECT format(''%%s rows %%s'', count(*), md5(string_agg(r.row::text, E''\n'' ORDER BY r.row::text COLLATE "C")))'
        'FROM (SELECT j.row - $1 || CASE WHEN e.name IS NOT NULL THEN jsonb_build_object(''entry_id'', e.name) ELSE ''{}'' END AS row'
        ' FROM (SELECT to_jsonb(t) AS row FROM %s t OFFSET 0) j'
        ' LEFT JOIN jobstats.entries e ON e.entry_id = (j.row ->> ''entry_id'')::bigint) r', relation) INTO found USING ignored;
    RETURN found;
END
$$;
-- The complete store except views, whose definitions catalog.sql compares, timestamps and other data that depend on the current time, the
-- progress of valuing a day's jobs, which depends on the load of the machine, and secrets: keys of entries depend on them, so names replace
-- them.
SELECT c.relname, pg_temp.stored(format('jobstats.%I', c.relname), coalesce(i.columns, '{}'))
FROM pg_class c
LEFT JOIN (VALUES ('observations', '{received}'::text[]), ('rejects', '{received}'), ('dirty', '{dirty_id}'), ('sweep', '{ended,people_forgotten}'), ('finding_rules', '{fair_of_site,bad_of_site,jobs}'), ('events', '{event_id,updated,notified}'), ('watch', '{ran}'),
    ('rollups', '{refreshed,users_refreshed,dropped}'), ('refresh', '{number,settled,announced,horizon,dropped,matched,clock}'),
    ('target_snapshots', '{received}'), ('targets', '{received}'))
    AS i (relation, columns) ON i.relation = c.relname
WHERE c.relnamespace = 'jobstats'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND c.relname NOT IN ('maintenance', 'locks', 'secrets', 'finding_days', 'finding_progress', 'finding_sizes')
ORDER BY c.relname COLLATE "C";

SELECT date_trunc('day', max("time")) - interval '1 day' AS since, max("time") AS until FROM jobstats.observations \gset
SELECT name, operation, total, calls, per_call, coverage
FROM jobstats_totals(:'since', :'until', by => 'target') ORDER BY name, operation COLLATE "C";
SELECT "time", seconds, name, operation, rate, coverage
FROM jobstats_rates(:'since', :'until', 'write_bytes,metadata', 'kind', '1 hour') ORDER BY "time", name, operation COLLATE "C";
SELECT rank, name, operation, total, rate, share, calls, per_call, coverage
FROM jobstats_top(:'since', :'until', 'write_bytes', n => 5) ORDER BY rank, name COLLATE "C";
SELECT name, first, last_active, nodes, read_bytes, write_bytes, read, write, opens, metadata, service_time, busiest_target
FROM jobstats_summary(:'since', :'until', 'uid') ORDER BY name;
SELECT "time", bucket, lower, upper, count FROM jobstats_densities(:'since', :'until', 'write_bytes') ORDER BY "time", bucket;
SELECT cluster, target, kind, server, last_observation, usual_interval, cleanup_interval FROM jobstats.health ORDER BY 1, 2, 3, 4, 5, 6, 7;
