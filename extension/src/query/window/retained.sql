-- The start of the first observation of which something is retained. The observations of a target are found by their key, partition by partition.
SELECT least((SELECT min(observed.since) FROM jobstats.observed observed), min(first."time")) AS since
FROM jobstats.targets target
LEFT JOIN LATERAL (
    SELECT observation."time"
    FROM jobstats.observations observation
    WHERE observation.target_id = target.target_id
    ORDER BY observation."time"
    LIMIT 1
) first ON true
