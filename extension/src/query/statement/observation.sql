-- The spans without a gap between observations. Each observation begins where the one before ends, except baselines. So only
-- the first, the last and the baselines have to be read, however long the window is. For observations that retention has
-- deleted, such spans are stored in jobstats.observed.
WITH edge AS MATERIALIZED (
    SELECT target.target_id,
        coalesce(earliest."time", soon."time", later."time") AS earliest,
        coalesce(earliest.since, earliest."time", soon.since, soon."time", later.since, later."time") AS since,
        latest."time" AS latest,
        coalesce(soon.since, later.since) AS beyond
    FROM jobstats.targets target
    LEFT JOIN LATERAL (
        SELECT observation.since, observation."time" FROM jobstats.observations observation
        WHERE observation.target_id = target.target_id
            AND observation."time" > greatest(@since@, @kept_since@) AND observation."time" <= @until@
        ORDER BY observation."time" LIMIT 1
    ) earliest ON true
    LEFT JOIN LATERAL (
        SELECT observation."time" FROM jobstats.observations observation
        WHERE observation.target_id = target.target_id
            AND observation."time" > greatest(@day_before@, @kept_since@) AND observation."time" <= @until@
        ORDER BY observation."time" DESC LIMIT 1
    ) latest ON true
    @beyond@
    WHERE (latest."time" IS NOT NULL OR coalesce(soon.since, later.since) < @until@)@conditions@
)
SELECT edge.target_id, edge.latest AS since, edge.latest AS "time"
FROM edge
WHERE edge.latest IS NOT NULL
UNION ALL
SELECT span.target_id, span.begins, coalesce((
        SELECT observation."time" FROM jobstats.observations observation
        WHERE observation.target_id = span.target_id AND observation."time" < span.next
            AND observation."time" > greatest(@since@, @kept_since@) AND observation."time" <= @until@
        ORDER BY observation."time" DESC LIMIT 1
    ), span.ends)
FROM (
    SELECT edge.target_id, baseline.begins,
        lead(baseline."time") OVER (PARTITION BY edge.target_id ORDER BY baseline."time") AS next,
        CASE WHEN edge.beyond < @until@ THEN @until@ ELSE edge.latest END AS ends
    FROM edge
    CROSS JOIN LATERAL (
        SELECT edge.since AS begins, edge.earliest AS "time" WHERE edge.earliest IS NOT NULL
        UNION ALL
        SELECT observation."time", observation."time" FROM jobstats.observations observation
        WHERE observation.target_id = edge.target_id AND observation.since IS NULL
            AND observation."time" > edge.earliest
            AND observation."time" > greatest(@since@, @kept_since@) AND observation."time" <= @until@
    ) baseline
) span
UNION ALL
SELECT stored.target_id, stored.since, stored.until
FROM jobstats.observed stored
JOIN jobstats.targets target ON target.target_id = stored.target_id
WHERE stored.until > @day_before@ AND stored.since < @until@@conditions@
