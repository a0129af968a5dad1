-- The observations of targets ($4), or of all, that reach into a window ($1, $2] or the day before it ($3), each with its server.
SELECT observation.target_id, observation.server, observation.since, observation."time"
FROM jobstats.observations observation
WHERE observation."time" > $3 AND observation."time" <= $2 AND ($4::integer[] IS NULL OR observation.target_id = ANY ($4))
UNION ALL
SELECT target.target_id, next.server, next.since, next."time"
FROM jobstats.targets target
CROSS JOIN LATERAL (
    SELECT * FROM jobstats.observations observation
    WHERE observation.target_id = target.target_id AND observation."time" > $2
    ORDER BY observation."time" LIMIT 1
) next
WHERE next.since < $2 AND ($4::integer[] IS NULL OR target.target_id = ANY ($4))
