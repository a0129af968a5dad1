-- Increments and raw text that belong to no observation. Rows that are older than every observation are ignored:
-- retention is about to drop them.
-- The interval that is added keeps parallel scans of TimescaleDB from missing rows: see Rollup::mark() in rollup.rs.
WITH oldest AS MATERIALIZED (
    SELECT coalesce(min(o."time"), '-infinity') AS "time"
    FROM jobstats.targets t
    CROSS JOIN LATERAL (SELECT min(o."time") AS "time" FROM jobstats.observations o WHERE o.target_id = t.target_id) o
), strays AS (
    SELECT i.target_id, i.observed, 'increment of no observation' AS what, i.since, i."time", i.entry_id, to_json(i) AS row,
        to_jsonb(i) AS own, NULL::text AS raw
    FROM (@increments@) i
    LEFT JOIN jobstats.observations o
        ON o.target_id = i.target_id AND o."time" = i.observed AND o."time" > $1
    WHERE i."time" > $1 AND i."time" <= $2 AND (o."time" IS NULL OR i."time" > i.observed)
        AND i.observed >= (SELECT oldest."time" FROM oldest) + interval '0'
    UNION ALL
    SELECT r.target_id, r."time", 'raw text of no observation', NULL, NULL, NULL, NULL, NULL,
        format('%s bytes, packed', octet_length(r.body))
    FROM jobstats.raw r
    LEFT JOIN jobstats.observations o
        ON o.target_id = r.target_id AND o."time" = r."time" AND o."time" > $1 AND o."time" <= $2
    WHERE r."time" > $1 AND r."time" <= $2 AND o."time" IS NULL AND r."time" >= (SELECT oldest."time" FROM oldest) + interval '0'
)
SELECT s.target_id, coalesce(t.cluster, '') AS cluster, coalesce(t.name, 'target_id ' || s.target_id) AS target, s.observed,
    s."time" AS ends, coalesce(e.name, 'entry_id ' || s.entry_id) AS entry, coalesce(s.raw, @shown@) AS stored
FROM strays s
LEFT JOIN jobstats.targets t ON t.target_id = s.target_id
LEFT JOIN jobstats.entries e ON e.entry_id = s.entry_id
ORDER BY cluster, target, s.observed, s.what, e.name COLLATE "C", s.entry_id, s."time", s.since, s.own
LIMIT 100001
