-- Evidence: the raw text of the targets of an event outlives other raw text.

CREATE FUNCTION jobstats_internal.evidence_kept_for() RETURNS interval
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT least(s.raw_retention + s.evidence_retention, jobstats_internal.people_kept_for()) FROM jobstats.settings s
$$;
COMMENT ON FUNCTION jobstats_internal.evidence_kept_for() IS
'Internal: how long raw text of events is kept after it was read. It names people, and no longer than these are named.';

CREATE FUNCTION jobstats_internal.evidence_spans(wanted bigint, lasting_after timestamptz) RETURNS TABLE (
    event_id bigint, is_told boolean, began timestamptz, target_id integer, since timestamptz, until timestamptz
)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT e.event_id, e.told IS NOT NULL, e.began, t.target_id, e.began - interval '30 minutes', e.until + interval '30 minutes'
FROM jobstats.events e
CROSS JOIN LATERAL unnest(e.targets) AS n (name)
JOIN (
    SELECT t.cluster, t.name, t.target_id FROM jobstats.targets t
    UNION
    SELECT n.cluster, n.name, n.target_id FROM jobstats.earlier_names n) t ON t.cluster = e.cluster AND t.name = n.name
WHERE e.withdrawn IS NULL AND e.until >= evidence_spans.lasting_after AND (evidence_spans.wanted IS NULL OR e.event_id = evidence_spans.wanted)
$$;
COMMENT ON FUNCTION jobstats_internal.evidence_spans(bigint, timestamptz) IS
'Internal: the spans of which raw text of targets is evidence of an event, or of all that are not withdrawn (NULL), which lasted until after a time: the event, and 30 minutes before and after it.';

CREATE FUNCTION jobstats_internal.store_bytes() RETURNS numeric
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    timescale text := jobstats_internal.timescale_schema();
    bytes numeric;
    in_chunks numeric := 0;
BEGIN
    SELECT sum(pg_total_relation_size(c.oid)) INTO bytes
    FROM pg_class c WHERE c.relnamespace = to_regnamespace('jobstats') AND c.relkind = 'r';
    IF timescale IS NOT NULL THEN
        EXECUTE format('SELECT coalesce(sum(%s.hypertable_size(h.hypertable)), 0) FROM jobstats_internal.hypertables() h', timescale)
            INTO in_chunks;
    END IF;
    RETURN bytes + in_chunks;
END
$$;
COMMENT ON FUNCTION jobstats_internal.store_bytes() IS
'Internal: the bytes on disk of all tables of the store with their indexes.';

CREATE FUNCTION jobstats_internal.keep_evidence(horizon timestamptz) RETURNS bigint
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
WITH kept_since AS MATERIALIZED (
    SELECT now() - jobstats_internal.evidence_kept_for() AS "time"
), candidate AS (
    SELECT s.event_id, s.is_told, s.began, c.*, c."time" > s.began + interval '1 day' AS is_late
    FROM kept_since k
    CROSS JOIN LATERAL jobstats_internal.evidence_spans(NULL::bigint, k."time" - interval '30 minutes') s
    CROSS JOIN LATERAL (
        SELECT e.target_id, e."time", octet_length(e.body) + coalesce(octet_length(e.carried), 0) AS bytes
        FROM jobstats.evidence e WHERE e.target_id = s.target_id AND e."time" >= s.since AND e."time" <= s.until
        UNION
        SELECT r.target_id, r."time", octet_length(r.body) + coalesce(octet_length(r.carried), 0)
        FROM jobstats.raw r WHERE r.target_id = s.target_id AND r."time" >= s.since AND r."time" <= s.until AND r."time" < horizon) c
    WHERE c."time" >= k."time"
), text AS (
    -- A text of several events counts for the one that keeps it longest, and the larger of two copies that differ.
    SELECT DISTINCT ON (c.target_id, c."time") c.*
    FROM candidate c
    ORDER BY c.target_id, c."time", c.is_late, c.is_told DESC, c.began DESC, c.event_id, c.bytes DESC
), kept AS MATERIALIZED (
    SELECT t.target_id, t."time"
    FROM (
        -- A target may be full for weeks, so texts of later days of an event come last.
        SELECT t.target_id, t."time",
            sum(t.bytes) OVER (ORDER BY t.is_late, t.is_told DESC, t.began DESC, t.event_id, t."time", t.target_id) AS bytes
        FROM text t) t
    WHERE t.bytes <= (SELECT jobstats_internal.store_bytes()) / 20
), gone AS (
    DELETE FROM jobstats.evidence e
    WHERE NOT EXISTS (SELECT FROM kept k WHERE k.target_id = e.target_id AND k."time" = e."time")
    RETURNING e.target_id
), added AS (
    INSERT INTO jobstats.evidence ("time", target_id, server, body, carried)
    SELECT r."time", r.target_id, r.server, r.body, r.carried
    FROM kept k JOIN jobstats.raw r ON r.target_id = k.target_id AND r."time" = k."time"
    WHERE NOT EXISTS (SELECT FROM jobstats.evidence e WHERE e.target_id = k.target_id AND e."time" = k."time")
    RETURNING target_id
)
SELECT (SELECT count(*) FROM gone) + (SELECT count(*) FROM added)
$$;
COMMENT ON FUNCTION jobstats_internal.keep_evidence(timestamptz) IS
'Internal: copies raw text of events that is older than the horizon, before it is dropped, and deletes copies that are too old, of no event any more, or above a twentieth of the bytes of the store; returns how many texts that were. First go texts of an event from after its first day, then those of events that nobody was told of, then those of the oldest events.';
