-- What every target did in its last observation, as jobstats_now() reads it: the sums of all columns.
WITH last AS MATERIALIZED (
    SELECT t.target_id, o.since, o."time"
    FROM jobstats.targets t
    CROSS JOIN LATERAL (
        SELECT o.since, o."time" FROM jobstats.observations o
        WHERE o.target_id = t.target_id AND o."time" > now() - interval '24 hours'
        ORDER BY o."time" DESC LIMIT 1
    ) o
    WHERE o.since IS NOT NULL
)
SELECT l.target_id, extract(epoch FROM l."time" - l.since)::double precision, w.active, w.amounts, w.usecs
FROM last l
CROSS JOIN LATERAL (
    SELECT count(*) > 0 AS active, @amounts@ AS amounts, @usecs@ AS usecs
    FROM jobstats.increments i
    WHERE i."time" > l.since AND i."time" <= l."time" AND i.target_id = l.target_id AND i.observed = l."time"
) w
