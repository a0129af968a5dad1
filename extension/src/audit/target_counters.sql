-- The stored rows of target counters that a snapshot ended, with the computed ones. TimescaleDB 2.28 fails where a condition on
-- compressed rows needs a whole row.
WITH computed AS MATERIALIZED (
    SELECT row."time", jsonb_strip_nulls(to_jsonb(row)) AS own
    FROM (
        @computed@
    ) row
), stored AS MATERIALIZED (
    SELECT i."time", jsonb_strip_nulls(to_jsonb(i)) AS own FROM jobstats.target_increments i
    WHERE i.target_id = $1 AND i."time" > $2 AND i."time" <= $3
)
SELECT stored.own::text AS stored, computed.own::text AS computed
FROM stored FULL JOIN computed USING ("time")
WHERE stored.own IS DISTINCT FROM computed.own
ORDER BY "time"
