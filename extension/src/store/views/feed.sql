-- The view for INSERT and COPY; it has no rows.

CREATE OR REPLACE VIEW jobstats.feed AS
SELECT
    ''::text AS cluster,
    NULL::text AS server,
    NULL::timestamptz AS "time",
    NULL::text AS body,
    NULL::bytea AS body_zstd,
    NULL::interval AS duration,
    NULL::text AS shipper,
    NULL::text AS source,
    NULL::tstzrange AS covers
WHERE false;
ALTER VIEW jobstats.feed ALTER COLUMN cluster SET DEFAULT '', ALTER COLUMN source SET DEFAULT 'lctl';

-- Runs with the rights of the role that inserts; jobstats_internal.ingest() has those of the store's owner. Reports that the extension is
-- dropped, instead of failing on a missing function.
CREATE OR REPLACE FUNCTION jobstats.feed_insert() RETURNS trigger
LANGUAGE plpgsql SECURITY INVOKER SET search_path = pg_catalog, pg_temp
AS $wrapper$
DECLARE
    other record;
BEGIN
    IF to_regprocedure('jobstats_internal.ingest(text,text,timestamptz,text,bytea,interval,text,text,tstzrange)') IS NULL THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = 'extension jobstats is not installed in this database',
            HINT = 'Run CREATE EXTENSION jobstats, then SELECT jobstats_setup();';
    END IF;
    -- An idle session would keep others from feeding its targets.
    IF current_setting('idle_in_transaction_session_timeout') = '0' THEN
        PERFORM set_config('idle_in_transaction_session_timeout', '30s', true);
    END IF;
    BEGIN
        PERFORM jobstats_internal.ingest(
            NEW.cluster, NEW.server, NEW."time", NEW.body, NEW.body_zstd, NEW.duration, NEW.shipper, NEW.source, NEW.covers);
    EXCEPTION WHEN lock_not_available THEN
        SELECT f.* INTO other FROM jobstats_internal.feeding() f LIMIT 1;
        RAISE serialization_failure USING
            MESSAGE = 'timeout while waiting for another feed' || CASE WHEN other.pid IS NULL THEN ''
                ELSE format(': session %s of role %I has held the locks of a feed since %s', other.pid, other.role, other.since) END,
            HINT = 'Feed the text again.' || CASE WHEN other.pid IS NULL THEN ''
                ELSE format(' A superuser or a member of that role can end the session: SELECT pg_terminate_backend(%s);', other.pid) END;
    END;
    RETURN NEW;
END
$wrapper$;
COMMENT ON FUNCTION jobstats.feed_insert() IS 'Internal: handles INSERT into the view feed.';
REVOKE ALL ON FUNCTION jobstats.feed_insert() FROM PUBLIC;

CREATE OR REPLACE TRIGGER feed_insert INSTEAD OF INSERT ON jobstats.feed
FOR EACH ROW EXECUTE FUNCTION jobstats.feed_insert();
