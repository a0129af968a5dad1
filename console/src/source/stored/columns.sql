-- The columns of increments.
SELECT a.attname::pg_catalog.text AS name
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'jobstats' AND c.relname = 'increments' AND a.attnum > 0 AND NOT a.attisdropped
