-- Each part that depends on dimensions has the library's list.
\set ECHO all
CREATE EXTENSION jobstats;

SELECT string_agg(d.name, ',') AS dimensions FROM jobstats_internal.dimensions() d \gset
\echo :dimensions

-- Every function with an argument "by" has a filter and labels. jobstats_verdict() and jobstats_densities() count groups.
SELECT p.proname AS function,
    pg_get_function_arguments(p.oid) LIKE '%filter jobstats_filter DEFAULT NULL::jobstats_filter, exclude jobstats_filter DEFAULT NULL::jobstats_filter%' AS has_filters,
    pg_get_function_result(p.oid) LIKE '%labels jsonb)' AS has_labels
FROM pg_proc p
WHERE 'by' = ANY (p.proargnames) AND p.proname LIKE 'jobstats\_%'
ORDER BY p.proname, p.oid;
-- Every dimension is a key of filters.
SELECT string_agg(d.name, ' ') FROM jobstats_internal.dimensions() d WHERE (d.name || '=1')::jobstats_filter::jsonb ->> d.name <> '1';

-- Every function takes every dimension as a word in "by".
SELECT jobstats_setup() IS NOT NULL AS ready;
SELECT count(*) FROM jobstats_rates(by => :'dimensions');
SELECT count(*) FROM jobstats_totals(by => :'dimensions');
SELECT count(*) FROM jobstats_top(by => :'dimensions');
SELECT count(*) FROM jobstats_changes(by => :'dimensions');
SELECT count(*) FROM jobstats_baseline(by => :'dimensions');
SELECT count(*) FROM jobstats_io_sizes(by => :'dimensions');
SELECT count(*) FROM jobstats_summary(by => :'dimensions');
SELECT count(*) FROM jobstats_densities(by => :'dimensions');

-- Views of rates have a column for each dimension, and jobstats_internal.entries() for each dimension except those for targets. The user's
-- is user_name.
CREATE VIEW columns AS SELECT d.name, CASE WHEN d.name IN ('user', 'group') THEN d.name || '_name' ELSE d.name END AS "column" FROM jobstats_internal.dimensions() d;
SELECT r.relation, string_agg(c.name, ' ') AS lacks
FROM (VALUES ('jobstats.rates'), ('jobstats.rates_10m'), ('jobstats.rates_1h'), ('jobstats.rates_1d')) r (relation)
CROSS JOIN columns c
WHERE NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = r.relation::regclass AND a.attname = c."column")
GROUP BY r.relation;
SELECT string_agg(c.name, ' ') AS of_targets
FROM columns c
JOIN pg_proc p ON p.oid = 'jobstats_internal.entries'::regproc
WHERE c."column" <> ALL (p.proargnames);
