-- Checks settings, whoever changes them. The function must work without the extension, which may be dropped while the store remains.
CREATE OR REPLACE FUNCTION jobstats.check_settings() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $check$
BEGIN
    IF to_regprocedure('jobstats_internal.require_setting(text,text)') IS NULL THEN
        RETURN NEW;
    ELSIF TG_TABLE_NAME = 'settings' THEN
        PERFORM jobstats_internal.require_setting(n.key, n.value) FROM jsonb_each_text(to_jsonb(NEW)) n;
    -- NULL is for ever here.
    ELSIF NEW.retention IS NOT NULL THEN
        PERFORM jobstats_internal.require_setting(format('rollup_%s_retention', NEW.level), NEW.retention::text);
    END IF;
    RETURN NEW;
END
$check$;
REVOKE ALL ON FUNCTION jobstats.check_settings() FROM PUBLIC;
COMMENT ON FUNCTION jobstats.check_settings() IS 'Internal: refuses settings that feeds or maintenance could not compute with.';

CREATE OR REPLACE TRIGGER check_settings BEFORE INSERT OR UPDATE ON jobstats.settings
FOR EACH ROW EXECUTE FUNCTION jobstats.check_settings();
CREATE OR REPLACE TRIGGER check_settings BEFORE INSERT OR UPDATE OF retention ON jobstats.rollups
FOR EACH ROW EXECUTE FUNCTION jobstats.check_settings();
