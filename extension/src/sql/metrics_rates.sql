-- What every target that is not silent did in its last observation: the sums of all columns. The increments are scanned
-- once, not once per target, which planners do not see by themselves. The scan begins with the earliest of these
-- observations, so that those which span over an hour, after a gap, are left out.
WITH pace AS (
@pace@
),
last AS MATERIALIZED (
    SELECT p.target_id, o.since, o."time"
    FROM pace p
    CROSS JOIN LATERAL (
        SELECT o.since, o."time" FROM jobstats.observations o
        WHERE o.target_id = p.target_id AND o."time" > now() - interval '24 hours'
        ORDER BY o."time" DESC LIMIT 1
    ) o
    WHERE NOT p.silent AND o.since > now() - greatest(4 * p.usual_interval, interval '1 hour')
),
work AS MATERIALIZED (
    SELECT i.* FROM jobstats.increments i
    WHERE i."time" > (SELECT min(since) FROM last) AND i."time" <= (SELECT max("time") FROM last)
)
SELECT l.target_id, extract(epoch FROM l."time" - l.since)::double precision, count(i.target_id) > 0, @amounts@, @usecs@
FROM last l
LEFT JOIN work i ON i.target_id = l.target_id AND i.observed = l."time" AND i."time" > l.since
GROUP BY l.target_id, l.since, l."time"
