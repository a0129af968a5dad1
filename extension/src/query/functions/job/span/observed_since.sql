-- The start of the first observation of any target that ends after an instant.
SELECT min(observation.since)
FROM jobstats.targets target
CROSS JOIN LATERAL (
    SELECT observation.since FROM jobstats.observations observation
    WHERE observation.target_id = target.target_id AND observation."time" > $1
    ORDER BY observation."time" LIMIT 1
) observation
