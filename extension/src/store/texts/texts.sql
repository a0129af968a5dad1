-- Texts of people and jobs, and the spans of time of which accounting has been read.

CREATE FUNCTION jobstats_internal.covers(cluster text, source text, since timestamptz, until timestamptz) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT EXISTS (
    SELECT FROM jobstats.covered c
    WHERE (covers.cluster IS NULL OR c.cluster = covers.cluster) AND (covers.source IS NULL OR c.source = covers.source)
        AND c.since <= covers.since AND c.until >= covers.until)
$$;
COMMENT ON FUNCTION jobstats_internal.covers(text, text, timestamptz, timestamptz) IS
'Internal: whether accounting of a cluster and a source (NULL: of any) has been read for all of a span.';

CREATE FUNCTION jobstats_internal.forget_texts(horizon timestamptz) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    gone bigint;
BEGIN
    -- Feeds that rely on one of these bodies must have committed, and later ones wait.
    PERFORM FROM jobstats.texts t WHERE t.received < horizon AND t.body IS NOT NULL FOR UPDATE;
    -- A body that later texts share passes to the first of them that is kept.
    UPDATE jobstats.texts heir SET body = t.body
    FROM jobstats.texts t
    CROSS JOIN LATERAL (
        SELECT k."time" FROM jobstats.texts k
        WHERE k.digest = t.digest AND k.body IS NULL AND k.received >= horizon
            AND k.cluster = t.cluster AND k.source = t.source AND k.server = t.server
        ORDER BY k."time" LIMIT 1) k
    WHERE t.received < horizon AND t.body IS NOT NULL
        AND heir.cluster = t.cluster AND heir.source = t.source AND heir.server = t.server AND heir."time" = k."time";
    -- A text of a growing file covers the time from the end of the last one.
    WITH ended AS (
        SELECT DISTINCT ON (t.cluster, t.source, t.server) t.cluster, t.source, t.server, t."time"
        FROM jobstats.texts t
        WHERE t.covers IS NOT NULL AND t.records > 0 AND t.received >= now() - (SELECT s.jobs_retention FROM jobstats.settings s)
        ORDER BY t.cluster, t.source, t.server, t."time" DESC
    )
    DELETE FROM jobstats.texts t
    WHERE t.received < horizon AND NOT EXISTS (
        SELECT FROM ended e WHERE e.cluster = t.cluster AND e.source = t.source AND e.server = t.server AND e."time" = t."time");
    GET DIAGNOSTICS gone = ROW_COUNT;
    UPDATE jobstats.texts t SET body = NULL WHERE t.received < horizon AND t.body IS NOT NULL;
    RETURN gone;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_texts(timestamptz) IS
'Internal: deletes texts that were received before the horizon, and returns their number. The last text of a growing file stays without its body.';

CREATE FUNCTION jobstats_internal.forget_covered(horizon timestamptz) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DELETE FROM jobstats.covered c WHERE c.until < horizon;
UPDATE jobstats.covered c SET since = horizon WHERE c.since < horizon
$$;
COMMENT ON FUNCTION jobstats_internal.forget_covered(timestamptz) IS
'Internal: forgets that accounting was read of the time before the horizon, of which jobs are deleted.';
