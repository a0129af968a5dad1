-- What each entry did in the last observation of targets, or in the last hour of it. $1, $2 and $3 are the targets, and the time
-- before and of each observation. The spans are merged, and each is scanned once.
WITH last AS MATERIALIZED (
    SELECT * FROM unnest($1, $2, $3) AS l (target_id, since, "time")
),
span AS MATERIALIZED (
    SELECT lower(s.span) AS since, upper(s.span) AS until
    FROM (SELECT unnest(range_agg(tstzrange(l.since, l."time", '(]'))) AS span FROM last l) s
)
SELECT i.target_id, i.entry_id, ARRAY[@columns@] AS totals
FROM span s
CROSS JOIN LATERAL (
    SELECT * FROM jobstats.increments i WHERE i."time" > s.since AND i."time" <= s.until OFFSET 0
) i
JOIN last l ON l.target_id = i.target_id AND l."time" = i.observed AND l.since < i."time"
