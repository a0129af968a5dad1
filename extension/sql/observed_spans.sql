-- The spans in which targets were observed: the union of the spans of observations, each from its predecessor to its own time, a
-- baseline only its own time; both ends are included. Spans before the oldest retained observation stay as they are.

CREATE FUNCTION jobstats_internal.computed_spans(after timestamptz, until timestamptz, target integer DEFAULT NULL)
RETURNS TABLE (target_id integer, newest timestamptz, stored tstzrange[], computed tstzrange[])
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT t.target_id, CASE WHEN edge.next IS NULL THEN upper(computed.spans) END, stored.spans, ARRAY(SELECT unnest(computed.spans))
FROM jobstats.refresh r
CROSS JOIN jobstats.targets t
CROSS JOIN LATERAL (
    SELECT coalesce((
            SELECT o."time" FROM jobstats.observations o
            WHERE o.target_id = t.target_id AND o."time" <= computed_spans.after AND o."time" > r.dropped ORDER BY o."time" DESC LIMIT 1), (
            SELECT o.since FROM jobstats.observations o
            WHERE o.target_id = t.target_id AND o."time" > computed_spans.after AND o."time" > r.dropped ORDER BY o."time" LIMIT 1),
            r.dropped) AS previous,
        (
            SELECT o."time" FROM jobstats.observations o
            WHERE o.target_id = t.target_id AND o."time" > computed_spans.until AND o."time" > r.dropped ORDER BY o."time" LIMIT 1) AS next
) edge
CROSS JOIN LATERAL (
    SELECT coalesce(range_agg(tstzrange(coalesce(o.since, o."time"), o."time", text '[]')), tstzmultirange()) AS spans
    FROM jobstats.observations o
    WHERE o.target_id = t.target_id AND o."time" > edge.previous AND o."time" <= coalesce(edge.next, computed_spans.until)
) observed
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(s.span ORDER BY s.span), '{}') AS spans, coalesce(range_agg(s.span), tstzmultirange()) AS whole
    FROM (SELECT tstzrange(o.since, o.until, text '[]') AS span FROM jobstats.observed_spans o WHERE o.target_id = t.target_id) s
) stored
CROSS JOIN LATERAL (
    SELECT stored.whole - tstzmultirange(tstzrange(edge.previous, coalesce(edge.next, timestamptz 'infinity'), text '(]')) + observed.spans AS spans
) computed
WHERE computed_spans.target IS NULL OR t.target_id = computed_spans.target
$$;
COMMENT ON FUNCTION jobstats_internal.computed_spans IS
'Internal: the stored spans of each target, and those that follow from the observations in (after, until] and the next one. newest: its last observation, NULL if after until.';

CREATE FUNCTION jobstats_internal.note_spans(after timestamptz, until timestamptz, target integer DEFAULT NULL) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    it record;
BEGIN
    FOR it IN SELECT s.* FROM jobstats_internal.computed_spans(note_spans.after, note_spans.until, note_spans.target) s LOOP
        DELETE FROM jobstats.spans s
        WHERE s.target_id = it.target_id AND NOT EXISTS (SELECT FROM unnest(it.computed) AS n (span) WHERE lower(n.span) = s.since);
        INSERT INTO jobstats.spans AS s (target_id, since, until)
        SELECT it.target_id, lower(n.span), CASE WHEN n.number < cardinality(it.computed) THEN upper(n.span) END
        FROM unnest(it.computed) WITH ORDINALITY AS n (span, number)
        ON CONFLICT ON CONSTRAINT spans_pkey DO UPDATE SET until = excluded.until WHERE s.until IS DISTINCT FROM excluded.until;
        UPDATE jobstats.targets t SET last_observation = it.newest, server = o.server, received = o.received
        FROM jobstats.observations o
        WHERE t.target_id = it.target_id AND o.target_id = it.target_id AND o."time" = it.newest
            AND (t.last_observation, t.server, t.received) IS DISTINCT FROM (it.newest, o.server, o.received);
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_internal.note_spans IS
'Internal: stores the spans and last observations of targets that follow from the observations in (after, until]. The caller has locked the targets, as feeds do.';
