-- Observations with increments that begin before the previous observation, which happens when an entry came back.
-- Records are carried for a day, so no row reaches back much further.
SELECT i.target_id, i.observed, min(i.since) AS earliest
FROM jobstats.increments i
JOIN jobstats.observations o
    ON o.target_id = i.target_id AND o."time" = i.observed AND o."time" > $1 AND o."time" <= $2
WHERE i."time" > $1 - interval '1 day' AND i."time" <= $2 AND i.observed > $1 AND i.observed <= $2
    AND i."time" <= o.since AND ($3 IS NULL OR i.target_id = $3)
GROUP BY i.target_id, i.observed
