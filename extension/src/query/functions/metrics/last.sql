-- The last observation of every target that is not silent, or the last hour of it. Observations that span over an hour (and four usual
-- intervals), after a gap, are left out.
SELECT p.target_id, greatest(p.since, p.last_observation - interval '1 hour') AS since, p.last_observation AS "time"
FROM (
@pace_of_a_day@
) p
WHERE NOT p.silent AND p.since > now() - greatest(4 * p.usual_interval, interval '1 hour')
