-- What every workload and user did in the last observation of each target. The increments are scanned once, not once per
-- target, which planners do not see by themselves; apart from observations that began over an hour ago: the scan would
-- begin with these. Each of those is looked for by itself (OFFSET 0): joined by hashing, all that is stored would be read.
WITH last AS MATERIALIZED (
    SELECT t.target_id, t.cluster, t.name, t.kind, o.server, o.since, o."time", o.since > now() - interval '1 hour' AS recent
    FROM jobstats.targets t
    CROSS JOIN LATERAL (
        SELECT o.server, o.since, o."time" FROM jobstats.observations o
        WHERE o.target_id = t.target_id AND o."time" > now() - interval '24 hours'
        ORDER BY o."time" DESC LIMIT 1
    ) o
    WHERE o.since IS NOT NULL AND ($1 IS NULL OR t.name LIKE $1)
),
scanned AS MATERIALIZED (
    SELECT i.* FROM jobstats.increments i
    WHERE i."time" > (SELECT min(l.since) FROM last l WHERE l.recent)
        AND i."time" <= (SELECT max(l."time") FROM last l WHERE l.recent)
),
work AS (
    SELECT i.* FROM last l
    JOIN scanned i ON i.target_id = l.target_id AND i.observed = l."time" AND i."time" > l.since
    WHERE l.recent
    UNION ALL
    SELECT i.* FROM last l
    CROSS JOIN LATERAL (
        SELECT * FROM jobstats.increments i
        WHERE i."time" > l.since AND i."time" <= l."time" AND i.target_id = l.target_id AND i.observed = l."time"
        OFFSET 0
    ) i
    WHERE NOT l.recent
)
SELECT l.target_id, l.cluster, l.name, l.kind, l.server, l."time", now() - l."time" AS age,
    extract(epoch FROM l."time" - l.since)::double precision AS seconds, w.workload, w.uid, u.name, w.calls, w.usecs
FROM last l
JOIN (
    SELECT i.target_id, e.workload, e.uid, @calls@ AS calls, @usecs@ AS usecs
    FROM work i
    JOIN last l ON l.target_id = i.target_id
    JOIN jobstats.entries e ON e.entry_id = i.entry_id
    GROUP BY i.target_id, e.workload, e.uid
) w ON w.target_id = l.target_id
LEFT JOIN jobstats.users u ON u.uid = w.uid
ORDER BY l.cluster, l.name, w.workload, w.uid
