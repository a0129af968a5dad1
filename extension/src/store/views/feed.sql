-- The way in: a view that shows nothing and takes INSERT and COPY.

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

-- Runs with the rights of the store's owner, so that a writer needs none but INSERT on the view. The extension may be
-- gone while the store is still there: then this says so instead of failing on a missing function.
CREATE OR REPLACE FUNCTION jobstats.feed_insert() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $wrapper$
<<own>>
DECLARE
    caller name := CASE current_setting('role') WHEN 'none' THEN session_user ELSE current_setting('role') END;
    own_targets text[];
    own_server boolean;
    source text;
    other record;
BEGIN
    IF to_regprocedure('jobstats_internal.ingest(text,text,timestamptz,text,bytea,interval,text,text,text[],boolean,tstzrange)') IS NULL THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = 'the extension jobstats is missing in this database',
            HINT = 'Run CREATE EXTENSION jobstats, then SELECT jobstats_setup();';
    END IF;
    source := (jobstats_internal.known_sources(ARRAY[NEW.source]))[1];
    -- What a role may feed is what writers says of it and of the roles whose rights it has. Whoever has the rights of the
    -- owner, as whom this runs, may feed all.
    IF NOT pg_has_role(caller, current_user, 'USAGE') THEN
        SELECT CASE WHEN bool_and(w.target IS NOT NULL) THEN array_agg(w.target) END, bool_or(w.server IS NOT NULL)
        INTO own_targets, own_server
        FROM jobstats.writers w
        WHERE (w.cluster IS NULL OR w.cluster = coalesce(NEW.cluster, '')) AND (w.server IS NULL OR NEW.server LIKE w.server)
            AND own.source = ANY (w.sources) AND pg_has_role(caller, w.role, 'USAGE')
        HAVING count(*) > 0;
        IF NOT FOUND THEN
            RAISE insufficient_privilege USING
                MESSAGE = format('role %I may not feed %scluster %L from server %L', caller,
                    CASE WHEN own.source <> 'lctl' THEN own.source || ' of ' END,
                    left(coalesce(NEW.cluster, ''), 60), left(NEW.server, 60)),
                HINT = format('The owner of the store allows it with jobstats_grant_writer(role, cluster, server%s).',
                    CASE WHEN own.source <> 'lctl' THEN format(', sources => ''{%s}''', own.source) END);
        END IF;
    END IF;
    -- A session that goes on to do nothing would keep others from feeding its targets.
    IF current_setting('idle_in_transaction_session_timeout') = '0' THEN
        PERFORM set_config('idle_in_transaction_session_timeout', '30s', true);
    END IF;
    BEGIN
        PERFORM jobstats_internal.ingest(
            NEW.cluster, NEW.server, NEW."time", NEW.body, NEW.body_zstd, NEW.duration, NEW.shipper, own.source, own_targets, own_server, NEW.covers);
    EXCEPTION WHEN lock_not_available THEN
        SELECT f.* INTO other FROM jobstats_internal.feeding() f LIMIT 1;
        RAISE serialization_failure USING
            MESSAGE = 'the feed has waited too long for another one' || CASE WHEN other.pid IS NULL THEN ''
                ELSE format(': session %s of role %I has held the locks of a feed since %s', other.pid, other.role, other.since) END,
            HINT = 'Feed the text again.' || CASE WHEN other.pid IS NULL THEN ''
                ELSE format(' A superuser or a member of that role can end the session: SELECT pg_terminate_backend(%s);', other.pid) END;
    END;
    RETURN NEW;
END
$wrapper$;
COMMENT ON FUNCTION jobstats.feed_insert() IS 'Internal: what INSERT into the view feed does.';
REVOKE ALL ON FUNCTION jobstats.feed_insert() FROM PUBLIC;

CREATE OR REPLACE TRIGGER feed_insert INSTEAD OF INSERT ON jobstats.feed
FOR EACH ROW EXECUTE FUNCTION jobstats.feed_insert();
