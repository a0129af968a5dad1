-- Whether there is a store, and the role may read it. The catalog tells that to every role.
SELECT pg_catalog.current_database()::pg_catalog.text AS database, current_user::pg_catalog.text AS role,
    EXISTS (SELECT FROM pg_catalog.pg_extension e WHERE e.extname = 'jobstats') AS has_extension,
    count(c.oid) = 2 AS has_store,
    coalesce(bool_and(pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_table_privilege(c.oid, 'SELECT')), false)
        AS is_reader
FROM pg_catalog.pg_namespace n
JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid
WHERE n.nspname = 'jobstats' AND c.relname IN ('settings', 'increments')
