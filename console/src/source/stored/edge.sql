-- The observation of any target that is nearest to a time ($1), on the side that the condition says; $2 and $3 are patterns.
SELECT @edge@(o."time") AS "time"
FROM jobstats.targets t
CROSS JOIN LATERAL (
    SELECT o."time" FROM jobstats.observations o
    WHERE o.target_id = t.target_id AND o."time" @side@ $1
    ORDER BY o."time" @order@ LIMIT 1
) o
WHERE ($2 IS NULL OR t.cluster LIKE $2) AND ($3 IS NULL OR t.filesystem LIKE $3)
