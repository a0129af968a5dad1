-- What every workload and user did in the last observation of each target, now or at a time, or in the last hour of it: who asks about now
-- does not ask what an observation after a gap of days says of these days.
WITH last AS MATERIALIZED (
    SELECT t.target_id, t.cluster, t.target AS name, t.kind, t.server, t.since, t."time"
    FROM @extschema@.jobstats_targets($2) t
    WHERE t.since IS NOT NULL AND ($1 IS NULL OR t.target LIKE ANY (jobstats_internal.as_like($1)))
),
@last_work@
SELECT l.target_id, l.cluster, l.name, l.kind, l.server, l."time", coalesce($2, now()) - l."time" AS age,
    extract(epoch FROM l."time" - l.since)::double precision AS seconds, w.workload, w.entry_id, w.calls, w.usecs
FROM last l
JOIN (
    SELECT i.target_id, e.workload, e.uid, min(e.entry_id) AS entry_id, @calls@ AS calls, @usecs@ AS usecs
    FROM work i
    JOIN last l ON l.target_id = i.target_id
    JOIN jobstats.entries e ON e.entry_id = i.entry_id
    GROUP BY i.target_id, e.workload, e.uid
) w ON w.target_id = l.target_id
ORDER BY l.cluster, l.name, w.workload, w.uid
