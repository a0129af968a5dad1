SELECT edge.target_id, baseline.begins, baseline."time", baseline.previous, edge.beyond, edge.latest
FROM edge
CROSS JOIN LATERAL (
    SELECT edge.since AS begins, edge.earliest AS "time", NULL::timestamptz AS previous WHERE edge.earliest IS NOT NULL
    UNION ALL
    SELECT observation."time", observation."time", (
            SELECT before."time" FROM jobstats.observations before
            WHERE before.target_id = edge.target_id AND before."time" < observation."time" AND before."time" > greatest(@since@, @kept_since@)
            ORDER BY before."time" DESC LIMIT 1)
    FROM jobstats.observations observation
    WHERE observation.target_id = edge.target_id AND observation.since IS NULL
        AND observation."time" > edge.earliest
        AND observation."time" > greatest(@since@, @kept_since@) AND observation."time" <= @until@
) baseline
