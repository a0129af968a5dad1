SELECT edge.target_id, baseline.begins, baseline."time", edge.beyond, edge.latest
FROM edge
CROSS JOIN LATERAL (
    SELECT edge.since AS begins, edge.earliest AS "time" WHERE edge.earliest IS NOT NULL
    UNION ALL
    SELECT observation."time", observation."time" FROM jobstats.observations observation
    WHERE observation.target_id = edge.target_id AND observation.since IS NULL
        AND observation."time" > edge.earliest
        AND observation."time" > greatest(@since@, @kept_since@) AND observation."time" <= @until@
) baseline
