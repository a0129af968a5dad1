-- Keeps what a rollup knows of a time whose source is gone: TimescaleDB's refresh of a continuous aggregate deletes the buckets of
-- its window and inserts what the source still has of them. The functions must work without the extension, which may be dropped
-- while the store remains. The condition is one of the triggers, because PL/pgSQL compiles a function of triggers once for each
-- chunk and keeps its plans, through which PostgreSQL looks at each change of a catalog: a third of the time of a year's refresh.
CREATE OR REPLACE FUNCTION jobstats.is_history(bucket timestamptz, source text) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $history$
BEGIN
    -- The owner drops targets.
    RETURN current_setting('jobstats.drops_history', true) IS DISTINCT FROM 'on' AND bucket <= (
        SELECT r.dropped FROM jobstats.refresh r WHERE source = 'increments'
        UNION ALL
        SELECT l.dropped FROM jobstats.rollups l WHERE l.level = source);
END
$history$;
REVOKE ALL ON FUNCTION jobstats.is_history(timestamptz, text) FROM PUBLIC;
COMMENT ON FUNCTION jobstats.is_history(timestamptz, text) IS
'Internal: whether what a rollup sums, increments or a finer rollup, has been dropped of the time of a bucket.';

CREATE OR REPLACE FUNCTION jobstats.keep_history() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS 'BEGIN RETURN NULL; END';
REVOKE ALL ON FUNCTION jobstats.keep_history() FROM PUBLIC;
COMMENT ON FUNCTION jobstats.keep_history() IS 'Internal: keeps rows of a rollup from being refreshed.';

-- The source is kept for more than a day, so that regular refreshes call no function.
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
                EXECUTE format('CREATE TRIGGER %1$I BEFORE %2$s ON %3$s FOR EACH ROW '
                    'WHEN (%4$s.bucket <= now() - interval ''1 day'' AND jobstats.is_history(%4$s.bucket, %5$L)) '
                    'EXECUTE FUNCTION jobstats.keep_history()', 'keep_history_on_' || event, event, aggregate.hypertable,
                    CASE event WHEN 'insert' THEN 'NEW' ELSE 'OLD' END, aggregate.source);
            END IF;
        END LOOP;
    END LOOP;
END
$triggers$;
