-- This script makes types, functions and grants. The tables and views of a store are not among them: jobstats_setup() makes these.

-- The schema of functions that only jobstats itself calls. No other role can create functions in it, so PostgreSQL cannot
-- mistake another function for one of them. The schema of the extension may be open to others.
CREATE SCHEMA jobstats_internal;
COMMENT ON SCHEMA jobstats_internal IS 'Internal functions of the extension jobstats; do not call them directly.';
