-- What OR REPLACE does not change of what 0.1.0 made; runs before it.
DROP FUNCTION IF EXISTS @extschema@.jobstats_setup(interval, interval, interval);
DROP FUNCTION IF EXISTS @extschema@.jobstats_add_days(text, integer);
