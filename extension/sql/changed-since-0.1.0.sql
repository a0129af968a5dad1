-- What OR REPLACE does not change of what 0.1.0 made; runs before it.
DROP FUNCTION IF EXISTS @extschema@.jobstats_setup(interval, interval, interval);
DROP FUNCTION IF EXISTS @extschema@.jobstats_add_days(text, integer);
DROP FUNCTION IF EXISTS @extschema@.jobstats_grant_writer(name, text);
DROP FUNCTION IF EXISTS @extschema@.jobstats_grant_reader(name);
DROP FUNCTION IF EXISTS @extschema@.jobstats_ingest(text, text, timestamptz, text, bytea, interval, text);
-- The column "user" has become user_name.
DROP FUNCTION IF EXISTS @extschema@.jobstats_now(text, integer);
-- The reading functions have got the dimensions entry and user_name, and the argument exclude; densities have got the
-- columns seconds and operation.
DROP FUNCTION IF EXISTS @extschema@.jobstats_densities(timestamptz, timestamptz, text, text[], integer, interval,
    text[], text[], text[], text[], text[], text[], text[], text[], text[], text[], bigint[]);
DROP FUNCTION IF EXISTS @extschema@.jobstats_rates(timestamptz, timestamptz, text[], text[], interval,
    text[], text[], text[], text[], text[], text[], text[], text[], text[], text[], bigint[], jsonb);
DROP FUNCTION IF EXISTS @extschema@.jobstats_summary(timestamptz, timestamptz, text[],
    text[], text[], text[], text[], text[], text[], text[], text[], text[], text[], bigint[]);
DROP FUNCTION IF EXISTS @extschema@.jobstats_top(timestamptz, timestamptz, text, text[], integer, double precision,
    text[], text[], text[], text[], text[], text[], text[], text[], text[], text[], bigint[], jsonb);
DROP FUNCTION IF EXISTS @extschema@.jobstats_totals(timestamptz, timestamptz, text[], text[],
    text[], text[], text[], text[], text[], text[], text[], text[], text[], text[], bigint[]);
-- Further arguments and columns: steps and groups of a job, a time in the past, filters like those of all others.
DROP FUNCTION IF EXISTS @extschema@.jobstats_job(text, timestamptz, timestamptz);
DROP FUNCTION IF EXISTS @extschema@.jobstats_now(text, integer);
DROP FUNCTION IF EXISTS @extschema@.jobstats_balance(text, timestamptz, timestamptz, text);
-- Filters are arrays everywhere.
DROP FUNCTION IF EXISTS @extschema@.jobstats_reprocess(timestamptz, timestamptz, text);

-- Functions that only jobstats itself calls have moved into a schema of their own. They are moved, not made anew, because
-- types, operators and aggregates in use consist of them.
CREATE SCHEMA jobstats_internal;
DO $move$
DECLARE
    routine record;
BEGIN
    FOR routine IN
        SELECT p.oid, p.proname AS name
        FROM pg_catalog.pg_depend d
        JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid AND e.extname = 'jobstats'
        JOIN pg_catalog.pg_proc p ON p.oid = d.objid
        WHERE d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass AND d.deptype = 'e'
            AND d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass
            AND p.proname ~ ('^jobstats_((counter|density)_(add|eq|finish|hash|in|merge|merged|ne|out|recv|send)'
                '|drop_before|put_view|require_store|require_top_level|staged_increments)$')
    LOOP
        EXECUTE pg_catalog.format('ALTER FUNCTION %s SET SCHEMA jobstats_internal', routine.oid::pg_catalog.regprocedure);
        EXECUTE pg_catalog.format('ALTER FUNCTION %s RENAME TO %I',
            routine.oid::pg_catalog.regprocedure, pg_catalog.substr(routine.name, pg_catalog.length('jobstats_') + 1));
    END LOOP;
END
$move$;
DROP FUNCTION jobstats_internal.put_view(text, text);
