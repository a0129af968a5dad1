-- The signatures of the reading functions name all dimensions that the library knows, in its order: the library reads filters
-- by their position.
CREATE EXTENSION jobstats;

SELECT string_agg(d.name, ' ') AS dimensions FROM jobstats_internal.dimensions() d;

-- Every function with an argument "by" has a filter of each dimension, and after them weights or not, and exclude. All but
-- densities have a column of each dimension. jobstats_job() is about one job and divides it by target and node only,
-- jobstats_unaccounted() is about targets, jobstats_used() about owners of files.
SELECT p.proname AS function,
    replace(pg_get_function_arguments(p.oid), ', weights jsonb DEFAULT NULL::jsonb', '')
        LIKE '%' || f.filters || ', exclude jsonb DEFAULT NULL::jsonb%' AS has_filters,
    strpos(pg_get_function_result(p.oid), c.columns) > 0 AS has_columns
FROM pg_proc p
CROSS JOIN (
    SELECT string_agg(format('%I %s[] DEFAULT NULL::%2$s[]', d.name, d.type), ', ') AS filters
    FROM jobstats_internal.dimensions() d
) f
CROSS JOIN (SELECT string_agg(format('%I %s', d.name, d.type), ', ') AS columns FROM jobstats_internal.dimensions() d) c
WHERE 'by' = ANY (p.proargnames) AND p.proname LIKE 'jobstats\_%' AND p.proname NOT IN ('jobstats_job', 'jobstats_unaccounted', 'jobstats_used')
ORDER BY p.proname;

-- Every function takes every dimension as a word in "by".
SELECT jobstats_setup() IS NOT NULL AS ready;
SELECT count(*) FROM jobstats_rates(by => ARRAY(SELECT d.name FROM jobstats_internal.dimensions() d));
SELECT count(*) FROM jobstats_totals(by => ARRAY(SELECT d.name FROM jobstats_internal.dimensions() d));
SELECT count(*) FROM jobstats_top(by => ARRAY(SELECT d.name FROM jobstats_internal.dimensions() d));
SELECT count(*) FROM jobstats_changes(by => ARRAY(SELECT d.name FROM jobstats_internal.dimensions() d));
SELECT count(*) FROM jobstats_sizes(by => ARRAY(SELECT d.name FROM jobstats_internal.dimensions() d));
SELECT count(*) FROM jobstats_summary(by => ARRAY(SELECT d.name FROM jobstats_internal.dimensions() d));
SELECT count(*) FROM jobstats_densities(by => ARRAY(SELECT d.name FROM jobstats_internal.dimensions() d));

-- Views of rates have a column of each dimension, and jobstats_entries() one of each that is not of targets.
SELECT r.relation, string_agg(d.name, ' ') AS lacks
FROM (VALUES ('jobstats.rates'), ('jobstats.rates_10m'), ('jobstats.rates_1h'), ('jobstats.rates_1d')) r (relation)
CROSS JOIN jobstats_internal.dimensions() d
WHERE NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = r.relation::regclass AND a.attname = d.name)
GROUP BY r.relation;
SELECT string_agg(d.name, ' ') AS of_targets
FROM jobstats_internal.dimensions() d
JOIN pg_proc p ON p.proname = 'jobstats_entries'
WHERE d.name <> ALL (p.proargnames);
