-- What every target that is not silent did in its last observation, or in the last hour of it: the sums of all columns.
-- Observations that span over an hour (and four usual intervals), after a gap, are left out.
WITH pace AS (
@pace_of_a_day@
),
last AS MATERIALIZED (
    SELECT p.target_id, greatest(p.since, p.last_observation - interval '1 hour') AS since, p.last_observation AS "time"
    FROM pace p
    WHERE NOT p.silent AND p.since > now() - greatest(4 * p.usual_interval, interval '1 hour')
),
@last_work@
SELECT l.target_id, extract(epoch FROM l."time" - l.since)::double precision AS seconds, count(i.target_id) > 0 AS active,
    @amounts@ AS amounts,
    @usecs@ AS usecs
FROM last l
LEFT JOIN work i ON i.target_id = l.target_id
GROUP BY l.target_id, l.since, l."time"
