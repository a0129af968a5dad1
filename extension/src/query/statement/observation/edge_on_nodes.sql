-- In a front, nodes find the first and the last observation of their targets, all at the same time: a search for each target would take a round
-- trip. Those of the hours at the edges, by their index, are all that is read of targets that are read as often as that.
-- A target has no more than one observation that reaches beyond the window. Nodes compute no greatest().
near AS MATERIALIZED (
    SELECT observation.target_id, max(observation."time") FILTER (WHERE observation."time" > @late@) AS latest,
        min(observation."time") FILTER (WHERE observation."time" <= @early@) AS earliest,
        min(observation.since) FILTER (WHERE observation."time" <= @early@) AS since
    FROM jobstats.observations observation
    WHERE observation."time" > @since@ AND observation."time" > @kept_since@ AND observation."time" <= @until@
        AND @hour@ = ANY (ARRAY[@edges@])
    GROUP BY observation.target_id
),
inside AS MATERIALIZED (
    SELECT near.target_id, near.latest, near.earliest, near.since
    FROM near
    WHERE near.latest IS NOT NULL AND near.earliest IS NOT NULL
    UNION ALL
    SELECT observation.target_id, max(observation."time") AS latest,
        min(observation."time") FILTER (WHERE observation."time" > @since@ AND observation."time" > @kept_since@) AS earliest,
        min(observation.since) FILTER (WHERE observation."time" > @since@ AND observation."time" > @kept_since@) AS since
    FROM jobstats.observations observation
    WHERE observation."time" > @day_before@ AND observation."time" > @kept_since@ AND observation."time" <= @until@
        AND observation.target_id = ANY (ARRAY(
            SELECT target.target_id FROM jobstats.targets target
            WHERE target.target_id NOT IN (SELECT near.target_id FROM near WHERE near.latest IS NOT NULL AND near.earliest IS NOT NULL)))
    GROUP BY observation.target_id
),
soon AS MATERIALIZED (
    SELECT observation.target_id, min(observation.since) AS since, min(observation."time") AS "time"
    FROM jobstats.observations observation
    WHERE observation."time" > @until@ AND observation."time" > @kept_since@ AND observation."time" <= @soon@
        AND @hour@ = ANY (ARRAY[@beyond@])
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
    SELECT baseline.target_id, baseline."time", baseline.previous
    FROM jobstats.baselines baseline
    WHERE baseline."time" > @since@ AND baseline."time" > @kept_since@ AND baseline."time" <= @until@
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
