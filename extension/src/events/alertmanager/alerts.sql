-- The events with an alert that last, or ended or were withdrawn within the last hour.
SELECT e.event_id, e.kind, e.severity, e.cluster, e.filesystem, to_char(e.began AT TIME ZONE 'UTC', t.form) AS starts,
    to_char(coalesce(e.withdrawn, e.ended) AT TIME ZONE 'UTC', t.form) AS ends
FROM jobstats.events e
CROSS JOIN (SELECT text 'YYYY-MM-DD"T"HH24:MI:SS"Z"' AS form) t
WHERE e.notified IS NOT NULL AND greatest(e.ended, e.withdrawn) IS NULL
    OR e.notified IS NOT NULL AND coalesce(e.withdrawn, e.updated, e.ended) > now() - interval '1 hour'
ORDER BY e.began, e.event_id
