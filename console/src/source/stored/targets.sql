-- The last observation of each target at a time, of targets that had been observed within a day; as in jobstats_now(), but with those that
-- nothing can be compared with. $1 is the time, or NULL for now; $2 and $3 are patterns.
SELECT now() AS now, t.target_id, t.cluster, t.name, t.kind, o.server, o."time", o.entries, o.problems, o.added, o.resets, o.removed,
    greatest(o.since, o."time" - interval '1 hour') AS since,
    (
        SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY r."time" - r.since)
        FROM (
            SELECT r."time", r.since FROM jobstats.observations r
            WHERE r.target_id = t.target_id AND r."time" > o."time" - interval '1 day' AND r."time" <= o."time"
            ORDER BY r."time" DESC LIMIT 10
        ) r
    ) AS usual
FROM jobstats.targets t
CROSS JOIN LATERAL (
    SELECT o.* FROM jobstats.observations o
    WHERE o.target_id = t.target_id AND o."time" > coalesce($1, now()) - interval '24 hours' AND ($1 IS NULL OR o."time" <= $1)
    ORDER BY o."time" DESC LIMIT 1
) o
WHERE (t.retired IS NULL OR $1 <= t.retired) AND ($2 IS NULL OR t.cluster LIKE $2) AND ($3 IS NULL OR t.filesystem LIKE $3)
ORDER BY t.cluster, t.name
