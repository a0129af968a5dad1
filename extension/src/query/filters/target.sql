-- The name of the only targets whose names fit a pattern, unless a target has the name that is asked for.
SELECT CASE WHEN NOT bool_or(target.name = $1) AND count(DISTINCT target.name) = 1 THEN min(target.name) END AS name
FROM jobstats.targets target
WHERE target.name = $1 OR target.name LIKE $2
