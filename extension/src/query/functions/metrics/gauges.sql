-- Additional parameters of the last hour: the latest value of each gauge, and the last ten minutes read of each service. Only
-- known gauges are included: each is a family.
SELECT f.family, coalesce(t.cluster, g.cluster) AS cluster, coalesce(t.filesystem, '') AS filesystem, coalesce(t.kind, '') AS kind,
    coalesce(t.name, '') AS target, CASE WHEN t.target_id IS NULL THEN g.server ELSE '' END AS server,
    coalesce(g.labels ->> 'reader', '') AS reader, coalesce(g.labels ->> 'service', '') AS service,
    coalesce(g.labels ->> 'policy', '') AS policy, coalesce(g.labels ->> 'rule', '') AS rule,
    '' AS severity, '' AS node, '' AS version, (g.value * f.unit)::double precision AS value
FROM jobstats.sample_series g
JOIN (VALUES ('kbytestotal', 'jobstats_target_size_bytes', 1024), ('kbytesavail', 'jobstats_target_available_bytes', 1024),
    ('kbytesfree', 'jobstats_target_free_bytes', 1024), ('filestotal', 'jobstats_target_inodes', 1), ('filesfree', 'jobstats_target_free_inodes', 1),
    ('recovering', 'jobstats_target_recovering', 1), ('unhealthy', 'jobstats_server_unhealthy_devices', 1),
    ('changelog_behind', 'jobstats_changelog_behind_records', 1), ('changelog_idle', 'jobstats_changelog_idle_seconds', 1),
    ('requests_queued', 'jobstats_policy_queued_requests', 1), ('requests_active', 'jobstats_policy_active_requests', 1),
    ('tbf_rate', 'jobstats_rule_limit_requests_per_second', 1), ('tbf_clients', 'jobstats_rule_clients', 1)
) AS f (name, family, unit) ON f.name = g.name
LEFT JOIN jobstats.targets t ON t.target_id = g.target_id
WHERE g."time" > now() - interval '1 hour' AND t.retired IS NULL
UNION ALL
SELECT f.family, s.cluster, '', '', '', s.server, '', s.service, '', '', '', '', '', f.value::double precision
FROM (
    SELECT i.cluster, i.server, i.service, sum(i.requests) AS requests, sum(i.wait_usecs) / 1000000 AS wait,
        sum(extract(epoch FROM i."time" - i.since)) AS seconds
    FROM (
        SELECT i.*, max(i."time") OVER (PARTITION BY i.cluster, i.server, i.service) AS last
        FROM jobstats.server_increments i
        WHERE i."time" > now() - interval '1 hour' AND i."time" > jobstats_internal.planned_ago(interval '1 hour')
    ) i
    WHERE i."time" > i.last - interval '10 minutes'
    GROUP BY i.cluster, i.server, i.service
) s
CROSS JOIN LATERAL (VALUES ('jobstats_service_requests_per_second', s.requests / s.seconds), ('jobstats_service_wait_seconds', s.wait / nullif(s.requests, 0)),
    ('jobstats_service_waiting_requests', s.wait / s.seconds)
) AS f (family, value)
WHERE f.value IS NOT NULL
UNION ALL
SELECT 'jobstats_event', e.cluster, e.filesystem, e.kind, '', '', '', '', '', '', e.severity, '', '', count(*)::double precision
FROM jobstats.events e
WHERE e.ended IS NULL AND e.withdrawn IS NULL
GROUP BY e.cluster, e.filesystem, e.kind, e.severity
UNION ALL
SELECT 'jobstats_watch_age_seconds', '', '', '', '', '', '', '', '', '', '', '', '', extract(epoch FROM now() - w.watched_until)::double precision
FROM jobstats.watch w
WHERE w.watched_until IS NOT NULL
ORDER BY cluster, filesystem, kind, severity, target, server, reader, service, policy, rule
