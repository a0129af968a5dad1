edge AS MATERIALIZED (
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
