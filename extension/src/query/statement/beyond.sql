-- Joins targets with their first observation after the window: `soon` if it is at most an hour after, so that few partitions
-- are searched, else `later`.
LEFT JOIN LATERAL (
    SELECT observation.since, observation."time" FROM jobstats.observations observation
    WHERE observation.target_id = target.target_id
        AND observation."time" > greatest(@until@, @kept_since@)
        AND observation."time" <= @soon@
    ORDER BY observation."time" LIMIT 1
) soon ON true
LEFT JOIN LATERAL (
    SELECT observation.since, observation."time" FROM jobstats.observations observation
    WHERE observation.target_id = target.target_id
        AND soon."time" IS NULL AND observation."time" > @soon@
    ORDER BY observation."time" LIMIT 1
) later ON true
