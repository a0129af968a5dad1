-- The times of the first and the last observation of the targets in scope, each found by its key.
SELECT min(first."time") AS first, max(last."time") AS last
FROM jobstats.targets target
CROSS JOIN LATERAL (
    SELECT observation."time" FROM jobstats.observations observation
    WHERE observation.target_id = target.target_id ORDER BY observation."time" LIMIT 1
) first
CROSS JOIN LATERAL (
    SELECT observation."time" FROM jobstats.observations observation
    WHERE observation.target_id = target.target_id ORDER BY observation."time" DESC LIMIT 1
) last
WHERE true@conditions@
