-- Sets the severity of event $1, which is $2 by itself, and the reason for no alert ($3). An event with an alert keeps it.
WITH event AS (
    UPDATE jobstats.events e
    SET severity = new.severity, reason = new.reason, notified = new.notified, updated = now()
    FROM (
        SELECT o.event_id, o.notified IS NULL AND $3 IS NULL AS is_first,
            CASE WHEN o.notified IS NOT NULL OR $3 IS NULL THEN $2 ELSE 'info' END AS severity,
            CASE WHEN o.notified IS NULL THEN $3 END AS reason,
            CASE WHEN o.notified IS NULL AND $3 IS NULL THEN now() ELSE o.notified END AS notified
        FROM jobstats.events o
        WHERE o.event_id = $1
    ) new
    WHERE e.event_id = new.event_id AND (e.severity, e.reason, e.notified) IS DISTINCT FROM (new.severity, new.reason, new.notified)
    RETURNING e.event_id, e.kind, e.severity, e.cluster, e.filesystem, new.is_first
)
SELECT pg_notify(text 'jobstats_events', jsonb_build_object('event_id', event.event_id, 'event', event.kind, 'severity', event.severity,
    'cluster', event.cluster, 'filesystem', event.filesystem)::text)
FROM event
WHERE event.is_first
