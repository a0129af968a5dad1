-- The last observation of each target, now or at a time, or the last hour of it: who asks about now does not ask what an observation after a
-- gap of days says of these days.
SELECT t.target_id, t.cluster, t.filesystem, t.kind, t.target AS name, t.server, t.since, t."time", coalesce(@at@, now()) - t."time" AS age
FROM @extschema@.jobstats_targets(@at@) t
JOIN jobstats.targets target ON target.target_id = t.target_id
WHERE t.since IS NOT NULL@conditions@
ORDER BY t.cluster, t.target
