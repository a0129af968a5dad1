-- What jobstats_setup() changes besides tables in a store that an earlier version made, once.

-- Without quotes, the word user is the role of the session. Grants and other views on these views stay.
DO $user_name$
DECLARE
    relation regclass;
BEGIN
    FOR relation IN
        SELECT c.oid FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'user'
        WHERE c.relnamespace = 'jobstats'::regnamespace AND c.relkind = 'v' AND c.relname LIKE 'rates%'
    LOOP
        EXECUTE format('ALTER VIEW %s RENAME COLUMN "user" TO user_name', relation);
    END LOOP;
END
$user_name$;

-- Readers can dump the store, for which they read sequences too.
DO $readers$
DECLARE
    reader text;
BEGIN
    FOR reader IN
        SELECT quote_ident(pg_get_userbyid(a.grantee))
        FROM pg_default_acl d CROSS JOIN LATERAL aclexplode(d.defaclacl) a
        WHERE d.defaclnamespace = 'jobstats'::regnamespace AND d.defaclobjtype = 'r' AND a.privilege_type = 'SELECT'
            AND a.grantee NOT IN (0, d.defaclrole)
    LOOP
        EXECUTE format('GRANT SELECT ON ALL SEQUENCES IN SCHEMA jobstats TO %s', reader);
        EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA jobstats GRANT SELECT ON SEQUENCES TO %s', reader);
    END LOOP;
END
$readers$;
