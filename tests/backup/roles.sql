-- Roles belong to the cluster: a dump of one database has no roles.
SELECT format('CREATE ROLE %I LOGIN', role)
FROM unnest(ARRAY['storage', 'backup: reader', 'backup: writer', 'backup: guest']) AS role
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) \gexec
