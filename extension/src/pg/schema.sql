-- The functions that only jobstats itself calls. In a schema of their own nobody can put a function beside them that
-- PostgreSQL would take for one of them, as it could where the extension's schema lets others create.
CREATE SCHEMA jobstats_internal;
COMMENT ON SCHEMA jobstats_internal IS 'What the functions of the extension jobstats are made of; not to be called directly.';
