-- Keeps what a rollup knows of a time whose source is gone: TimescaleDB's refresh of a continuous aggregate deletes the buckets of
-- its window and inserts what the source still has of them. The function must work without the extension, which may be dropped
-- while the store remains.
CREATE OR REPLACE FUNCTION jobstats.keep_history() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $keep$
DECLARE
    held record;
    gone timestamptz;
BEGIN
    IF TG_OP = 'DELETE' THEN
        held := OLD;
    ELSE
        held := NEW;
    END IF;
    IF TG_ARGV[0] = 'increments' THEN
        SELECT r.dropped INTO gone FROM jobstats.refresh r;
    ELSE
        SELECT l.dropped INTO gone FROM jobstats.rollups l WHERE l.level = TG_ARGV[0];
    END IF;
    IF held.bucket <= gone THEN
        RETURN NULL;
    END IF;
    RETURN held;
END
$keep$;
REVOKE ALL ON FUNCTION jobstats.keep_history() FROM PUBLIC;
COMMENT ON FUNCTION jobstats.keep_history() IS 'Internal: keeps rows of a rollup from being refreshed whose source has been dropped.';

-- The source is kept for more than a day, so that regular refreshes do not call the function.
DO $triggers$
DECLARE
    aggregate record;
    event text;
BEGIN
    FOR aggregate IN
        SELECT h.hypertable, s.source
        FROM (VALUES @sources@) AS s (relation, source)
        JOIN jobstats_internal.hypertables() h ON h.relation = s.relation
        JOIN pg_class c ON c.oid = to_regclass('jobstats.' || s.relation) AND c.relkind = 'v'
    LOOP
        FOREACH event IN ARRAY ARRAY['insert', 'delete'] LOOP
            IF NOT EXISTS (SELECT FROM pg_trigger g WHERE g.tgrelid = aggregate.hypertable AND g.tgname = 'keep_history_on_' || event) THEN
                EXECUTE format('CREATE TRIGGER %I BEFORE %s ON %s FOR EACH ROW WHEN (%s.bucket <= now() - interval ''1 day'') '
                    'EXECUTE FUNCTION jobstats.keep_history(%L)', 'keep_history_on_' || event, event, aggregate.hypertable,
                    CASE event WHEN 'insert' THEN 'NEW' ELSE 'OLD' END, aggregate.source);
            END IF;
        END LOOP;
    END LOOP;
END
$triggers$;
