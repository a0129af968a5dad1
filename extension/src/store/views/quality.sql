-- The quality of one hour, for all targets observed in it. It is a function so that a condition on the hour keeps other
-- hours from being read, and because compiling the expressions would take longer than evaluating them.
CREATE OR REPLACE FUNCTION jobstats.hour_quality(start timestamptz) RETURNS TABLE (
    target_id integer, observations bigint, ok bigint, missing_job bigint, truncated bigint, malformed bigint,
    added bigint, resets bigint, gaps bigint, unknown bigint, problems bigint,
    bytes_without_job double precision, bytes_without_user double precision,
    operations_without_job double precision, operations_without_user double precision, missed bigint, partial bigint
)
LANGUAGE sql STABLE ROWS 30 SET search_path = pg_catalog, pg_temp SET jit = off
AS $quality$
WITH observed AS MATERIALIZED (
    SELECT o.target_id, o."time", o."time" - o.since AS elapsed, o.added, o.resets, o.unknown, o.problems
    FROM jobstats.observations o
    WHERE @hour@ = start + interval '1 microsecond' AND o."time" > start AND o."time" <= start + interval '1 hour'
),
last AS MATERIALIZED (
    SELECT o.target_id, max(o."time") AS "time" FROM observed o GROUP BY o.target_id
),
-- The planner expects a single observation and would find the usual interval anew for each of them.
pace AS MATERIALIZED (
@pace_of_last@
),
missed AS (
@missed@
),
-- Whether the rollup covers the hour.
rollup AS MATERIALIZED (
    SELECT FROM jobstats.rollups r
    WHERE r.level = '1h' AND start >= r.dropped AND start + interval '1 hour' <= r.refreshed
        AND NOT EXISTS (SELECT FROM jobstats.dirty d WHERE d.span_to > start AND d.span_from < start + interval '1 hour')
),
active AS (
    SELECT i.target_id, i.entry_id, coalesce(i.read_bytes, 0) + coalesce(i.write_bytes, 0) AS bytes, @calls@ AS calls
    FROM jobstats.rollup_1h i
    WHERE i.bucket = start + interval '1 microsecond' AND EXISTS (SELECT FROM rollup)
    UNION ALL
    -- After a gap of more than a day, a row that crosses the edge of an hour counts in the hour in which it ends.
    SELECT i.target_id, i.entry_id, sum(coalesce(i.read_bytes, 0) + coalesce(i.write_bytes, 0)), sum(@calls@)
    FROM jobstats.increments i
    WHERE i."time" > start AND i."time" <= start + interval '1 hour' AND NOT EXISTS (SELECT FROM rollup)
    GROUP BY i.target_id, i.entry_id
)
SELECT o.target_id, o.observations,
    coalesce(a.ok, 0), coalesce(a.missing_job, 0), coalesce(a.truncated, 0), coalesce(a.malformed, 0),
    o.added, o.resets, m.gaps, o.unknown, o.problems,
    a.bytes_without_job / nullif(a.bytes, 0), a.bytes_without_user / nullif(a.bytes, 0),
    a.calls_without_job / nullif(a.calls, 0), a.calls_without_user / nullif(a.calls, 0), m.missed, coalesce(a.partial, 0)
FROM (
    SELECT o.target_id, count(*) AS observations, sum(o.added) AS added, sum(o.resets) AS resets,
        sum(o.unknown) AS unknown, sum(o.problems) AS problems
    FROM observed o
    GROUP BY o.target_id
) o
JOIN missed m ON m.target_id = o.target_id
LEFT JOIN (
    SELECT i.target_id,
        count(*) FILTER (WHERE e.status = 'ok') AS ok,
        count(*) FILTER (WHERE e.status = 'missing_job') AS missing_job,
        count(*) FILTER (WHERE e.status = 'truncated') AS truncated,
        count(*) FILTER (WHERE e.status = 'partial') AS partial,
        count(*) FILTER (WHERE e.status = 'malformed') AS malformed,
        sum(i.bytes) AS bytes, sum(i.calls) AS calls,
        coalesce(sum(i.bytes) FILTER (WHERE e.job IS NULL), 0) AS bytes_without_job,
        coalesce(sum(i.bytes) FILTER (WHERE e.uid IS NULL), 0) AS bytes_without_user,
        coalesce(sum(i.calls) FILTER (WHERE e.job IS NULL), 0) AS calls_without_job,
        coalesce(sum(i.calls) FILTER (WHERE e.uid IS NULL), 0) AS calls_without_user
    FROM active i
    JOIN jobstats.entries e ON e.entry_id = i.entry_id
    GROUP BY i.target_id
) a ON a.target_id = o.target_id
$quality$;
COMMENT ON FUNCTION jobstats.hour_quality(timestamptz) IS 'Internal: the rows of the view quality for one hour.';

-- Finds the hours with observations one after the other by an index, so that hours without observations are free.
-- The next hour is nearly always within half a day, which is two partitions at most; otherwise all later partitions are
-- searched. As in rollups, an hour is named by its first instant, a microsecond after its start.
CREATE OR REPLACE VIEW jobstats.quality AS
WITH RECURSIVE observed AS (
    SELECT (SELECT @hour@ FROM jobstats.observations o ORDER BY 1 LIMIT 1) AS first_instant
    UNION ALL
    SELECT coalesce(
        (SELECT @hour@ FROM jobstats.observations o
            WHERE @hour@ > h.first_instant AND @hour@ <= h.first_instant + interval '12 hours'
                AND o."time" >= h.first_instant + interval '1 hour' AND o."time" < h.first_instant + interval '13 hours'
            ORDER BY 1 LIMIT 1),
        (SELECT @hour@ FROM jobstats.observations o
            WHERE @hour@ > h.first_instant AND o."time" >= h.first_instant + interval '1 hour'
            ORDER BY 1 LIMIT 1))
    FROM observed h WHERE h.first_instant <= now()
)
SELECT h.first_instant - interval '1 microsecond' AS hour, t.cluster, t.name AS target, t.kind,
    q.observations, q.ok, q.missing_job, q.truncated, q.malformed,
    q.added, q.resets, q.gaps, q.unknown, q.problems,
    q.bytes_without_job, q.bytes_without_user, q.operations_without_job, q.operations_without_user, q.missed, q.partial
FROM observed h
CROSS JOIN LATERAL jobstats.hour_quality(h.first_instant - interval '1 microsecond') q
JOIN jobstats.targets t ON t.target_id = q.target_id
WHERE h.first_instant <= now();
