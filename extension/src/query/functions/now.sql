-- What every entry did in the last observation of each target, now or at a time, or in the last hour of it: who asks about now
-- does not ask what an observation after a gap of days says of these days.
WITH last AS MATERIALIZED (
    SELECT t.target_id, t.cluster, t.target AS name, t.kind, t.server, t.since, t."time"
    FROM @extschema@.jobstats_targets(@at@) t
    JOIN jobstats.targets target ON target.target_id = t.target_id
    WHERE t.since IS NOT NULL@conditions@
),
@last_work@
SELECT l.target_id, l.name, l.server, l."time", coalesce(@at@, now()) - l."time" AS age,
    extract(epoch FROM l."time" - l.since)::double precision AS seconds, w.entry_id, w.calls, w.usecs
FROM last l
JOIN (
    SELECT i.target_id, i.entry_id, @calls@ AS calls, @usecs@ AS usecs
    FROM work i
    JOIN last l ON l.target_id = i.target_id
    GROUP BY i.target_id, i.entry_id
) w ON w.target_id = l.target_id
ORDER BY l.cluster, l.name, w.entry_id
