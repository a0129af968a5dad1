-- The last observation of each target at a time. PostgreSQL puts a call of this function into the statement that calls it, so that what
-- nobody asks for is not computed, and conditions choose the targets that are looked at. A clause SET would prevent that.
CREATE FUNCTION jobstats_targets(at timestamptz DEFAULT NULL) RETURNS TABLE (
    target_id integer, cluster text, filesystem text, kind text, target text, server text, since timestamptz, "time" timestamptz,
    usual_interval interval, entries integer, problems integer, added integer, resets integer, removed integer,
    before timestamptz, after timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
SELECT known.target_id, known.cluster, known.filesystem, known.kind, known.name, last.server,
    CASE WHEN last.since IS NOT NULL THEN greatest(last.since, last."time" - interval '1 hour') END, last."time",
    CASE WHEN at IS NULL THEN newest.usual_interval ELSE (
        SELECT percentile_disc(0.5::double precision) WITHIN GROUP (ORDER BY recent."time" - recent.since)
        FROM (
            SELECT o."time", o.since FROM jobstats.observations o
            WHERE o.target_id = known.target_id AND o."time" > last."time" - interval '1 day' AND o."time" <= last."time"
            ORDER BY o."time" DESC LIMIT 10
        ) recent
    ) END,
    last.entries, last.problems, last.added, last.resets, last.removed,
    CASE WHEN at IS NULL THEN newest.before ELSE (
        SELECT o."time" FROM jobstats.observations o
        WHERE o.target_id = known.target_id AND o."time" <= at
        ORDER BY o."time" DESC LIMIT 1
    ) END,
    CASE WHEN at IS NULL THEN newest.after ELSE (
        SELECT o."time" FROM jobstats.observations o
        WHERE o.target_id = known.target_id AND o."time" > at
        ORDER BY o."time" LIMIT 1
    ) END
FROM (
    -- TimescaleDB knows no later times than these.
    SELECT CASE WHEN at > timestamptz '294246-01-01 00:00Z' THEN timestamptz '294246-01-01 00:00Z' ELSE at END AS at
) asked
CROSS JOIN jobstats.targets known
LEFT JOIN jobstats.last_observations newest ON newest.target_id = known.target_id AND at IS NULL
LEFT JOIN LATERAL (
    SELECT newest.server, newest.since, newest."time", newest.entries, newest.problems, newest.added, newest.resets, newest.removed WHERE at IS NULL
    UNION ALL
    (
        SELECT o.server, o.since, o."time", o.entries, o.problems, o.added, o.resets, o.removed FROM jobstats.observations o
        WHERE o.target_id = known.target_id AND (known.retired IS NULL OR at <= known.retired)
            AND o."time" > at - interval '24 hours' AND o."time" <= at
        ORDER BY o."time" DESC LIMIT 1
    )
) last ON true
$$;
COMMENT ON FUNCTION jobstats_targets(timestamptz) IS
'Lists the targets with their last observation, now or at a time. One row per target that was ever observed. time is that of the last observation up to at (NULL: now) and, with all that comes from it, NULL if the target had not been observed for a day or was retired before. since is the time of the observation before, or an hour before time if that is later; NULL for a first observation, with which nothing can be compared. usual_interval is the median of the last ten intervals between observations. before is the last observation up to at, however long ago that was, and after the first one later; NULL where the store has none. Errors: 42P01 where there is no store.';
