-- In a front, the spans without a gap between observations. Nodes find the first and the last observation of their targets, all at the same
-- time: a search for each target would take a round trip. A target has no more than one observation that reaches beyond the window.
WITH inside AS MATERIALIZED (
    SELECT observation.target_id, max(observation."time") AS latest,
        min(observation."time") FILTER (WHERE observation."time" > greatest(@since@, @kept_since@)) AS earliest,
        min(observation.since) FILTER (WHERE observation."time" > greatest(@since@, @kept_since@)) AS since
    FROM jobstats.observations observation
    WHERE observation."time" > greatest(@day_before@, @kept_since@) AND observation."time" <= @until@
    GROUP BY observation.target_id
),
soon AS MATERIALIZED (
    SELECT observation.target_id, min(observation.since) AS since, min(observation."time") AS "time"
    FROM jobstats.observations observation
    WHERE observation."time" > greatest(@until@, @kept_since@)
        AND observation."time" <= @soon@
    GROUP BY observation.target_id
),
later AS MATERIALIZED (
    SELECT observation.target_id, min(observation.since) AS since, min(observation."time") AS "time"
    FROM jobstats.observations observation
    WHERE observation."time" > @soon@ AND observation.since < @until@
        AND observation.target_id = ANY (ARRAY(
            SELECT target.target_id FROM jobstats.targets target WHERE target.target_id NOT IN (SELECT soon.target_id FROM soon)))
    GROUP BY observation.target_id
),
baseline AS MATERIALIZED (
    SELECT observation.target_id, observation."time"
    FROM jobstats.observations observation
    WHERE observation.since IS NULL AND observation."time" > greatest(@since@, @kept_since@) AND observation."time" <= @until@
),
edge AS MATERIALIZED (
    SELECT target.target_id, inside.latest, beyond.since AS beyond, coalesce(inside.earliest, beyond."time") AS earliest,
        CASE WHEN inside.earliest IS NULL THEN beyond.since ELSE least(inside.since, inside.earliest) END AS since
    FROM jobstats.targets target
    LEFT JOIN inside ON inside.target_id = target.target_id
    LEFT JOIN (
        SELECT soon.* FROM soon WHERE soon.since < @until@
        UNION ALL
        SELECT later.* FROM later
    ) beyond ON beyond.target_id = target.target_id
    WHERE (inside.latest IS NOT NULL OR beyond.since IS NOT NULL)@conditions@
)
SELECT edge.target_id, edge.latest AS since, edge.latest AS "time"
FROM edge
WHERE edge.latest IS NOT NULL
UNION ALL
SELECT span.target_id, span.begins, CASE WHEN span.next IS NULL THEN span.ends ELSE coalesce((
        SELECT observation."time" FROM jobstats.observations observation
        WHERE observation.target_id = span.target_id AND observation."time" < span.next
            AND observation."time" > greatest(@since@, @kept_since@) AND observation."time" <= @until@
        ORDER BY observation."time" DESC LIMIT 1
    ), span.ends) END
FROM (
    SELECT start.target_id, start.begins, lead(start."time") OVER (PARTITION BY start.target_id ORDER BY start."time") AS next,
        CASE WHEN start.beyond < @until@ THEN @until@ ELSE start.latest END AS ends
    FROM (
        SELECT edge.target_id, edge.since AS begins, edge.earliest AS "time", edge.beyond, edge.latest FROM edge WHERE edge.earliest IS NOT NULL
        UNION ALL
        SELECT edge.target_id, baseline."time", baseline."time", edge.beyond, edge.latest
        FROM edge JOIN baseline ON baseline.target_id = edge.target_id AND baseline."time" > edge.earliest
    ) start
) span
UNION ALL
SELECT stored.target_id, stored.since, stored.until
FROM jobstats.observed stored
JOIN jobstats.targets target ON target.target_id = stored.target_id
WHERE stored.until > @day_before@ AND stored.since < @until@@conditions@
