-- The times of the first and the last observation of the targets in scope.
SELECT min(ends.first) AS first, max(ends.last) AS last
FROM jobstats.targets target
JOIN jobstats.observation_ends ends ON ends.target_id = target.target_id
WHERE true@conditions@
