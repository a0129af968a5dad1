-- What every workload and user did in the last observation of each target.
WITH last AS MATERIALIZED (
    SELECT t.target_id, t.cluster, t.name, t.kind, o.server, o.since, o."time"
    FROM jobstats.targets t
    CROSS JOIN LATERAL (
        SELECT o.server, o.since, o."time" FROM jobstats.observations o
        WHERE o.target_id = t.target_id AND o."time" > now() - interval '24 hours'
        ORDER BY o."time" DESC LIMIT 1
    ) o
    WHERE o.since IS NOT NULL AND ($1 IS NULL OR t.name LIKE $1)
)
SELECT l.target_id, l.cluster, l.name, l.kind, l.server, l."time", now() - l."time" AS age,
    extract(epoch FROM l."time" - l.since)::double precision AS seconds, w.workload, w.uid, u.name, w.calls, w.usecs
FROM last l
CROSS JOIN LATERAL (
    SELECT e.workload, e.uid, @calls@ AS calls, @usecs@ AS usecs
    FROM jobstats.increments i
    JOIN jobstats.entries e ON e.entry_id = i.entry_id
    WHERE i."time" > l.since AND i."time" <= l."time" AND i.target_id = l.target_id AND i.observed = l."time"
    GROUP BY e.workload, e.uid
) w
LEFT JOIN jobstats.users u ON u.uid = w.uid
ORDER BY l.cluster, l.name, w.workload, w.uid
