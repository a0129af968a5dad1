-- The spans without a gap between observations. Each observation begins where the one before ends, except baselines. So only
-- the first, the last and the baselines have to be read, however long the window is. For observations that retention has
-- deleted, such spans are stored in jobstats.observed.
WITH @edge@
SELECT edge.target_id, edge.latest AS since, edge.latest AS "time"
FROM edge
WHERE edge.latest IS NOT NULL
UNION ALL
SELECT start.target_id, start.begins,
    coalesce(lead(start.previous) OVER (PARTITION BY start.target_id ORDER BY start."time"), CASE WHEN start.beyond < @until@ THEN @until@ ELSE start.latest END)
FROM (
@starts@
) start
UNION ALL
SELECT stored.target_id, stored.since, stored.until
FROM jobstats.observed stored
JOIN jobstats.targets target ON target.target_id = stored.target_id
WHERE stored.until > @day_before@ AND stored.since < @until@@conditions@
