-- Observations of a target with their raw text, up to a number of rows and bytes. The condition on raw."time" is
-- repeated because the planner does not derive it.
SELECT o."time", o.since, o.server, extract(epoch FROM o.cleanup_interval)::bigint AS cleanup_seconds, o.bytes, o.digest, o.kept, o.folded_below,
    o.raw_server, o.body, o.carried_records,
    o.entries, o.active, o.added, o.resets, o.removed, o.carried, o.unknown, o.problems
FROM (
    SELECT o.*, r.server AS raw_server, r.body, r.carried AS carried_records,
        coalesce(sum(octet_length(r.body)) OVER (
            ORDER BY o."time" @direction@ ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
    FROM (
        SELECT * FROM jobstats.observations
        WHERE target_id = $1 AND "time" @compared@ $2 AND ($5::timestamptz IS NULL OR "time" <= $5)
        ORDER BY "time" @direction@
        LIMIT $3
    ) o
    LEFT JOIN jobstats.raw r ON r.target_id = o.target_id AND r."time" = o."time" AND r."time" @compared@ $2
) o
WHERE o.before <= $4
ORDER BY o."time" @direction@
