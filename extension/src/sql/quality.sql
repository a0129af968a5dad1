CREATE OR REPLACE VIEW jobstats.quality AS
WITH pace AS (
@pace@
)
SELECT h.hour, t.cluster, t.name AS target, t.kind, q.observations,
    coalesce(q.ok, 0) AS ok, coalesce(q.missing_job, 0) AS missing_job, coalesce(q.truncated, 0) AS truncated,
    coalesce(q.malformed, 0) AS malformed,
    q.added, q.resets, q.gaps, q.unknown, q.problems,
    (q.bytes_without_job / nullif(q.bytes, 0))::double precision AS bytes_without_job,
    (q.bytes_without_user / nullif(q.bytes, 0))::double precision AS bytes_without_user,
    (q.calls_without_job / nullif(q.calls, 0))::double precision AS operations_without_job,
    (q.calls_without_user / nullif(q.calls, 0))::double precision AS operations_without_user
FROM (
    SELECT generate_series(date_trunc('hour', now() - s.retention, 'UTC'), now(), interval '1 hour') AS hour
    FROM jobstats.settings s
) h
-- Hour by hour, so that a condition on the hour keeps the others from being read. No row crosses the edge of an hour.
CROSS JOIN LATERAL (
    SELECT o.*, a.*
    FROM (
        SELECT o.target_id AS observed_id, count(*) AS observations, sum(o.added) AS added, sum(o.resets) AS resets,
            count(*) FILTER (WHERE o."time" - o.since > 2 * p.usual_interval) AS gaps,
            sum(o.unknown) AS unknown, sum(o.problems) AS problems
        FROM jobstats.observations o
        JOIN pace p ON p.target_id = o.target_id
        WHERE o."time" > h.hour AND o."time" <= h.hour + interval '1 hour'
        GROUP BY o.target_id
    ) o
    LEFT JOIN (
        SELECT i.target_id,
            count(*) FILTER (WHERE e.status = 'ok') AS ok,
            count(*) FILTER (WHERE e.status = 'missing_job') AS missing_job,
            count(*) FILTER (WHERE e.status = 'truncated') AS truncated,
            count(*) FILTER (WHERE e.status = 'malformed') AS malformed,
            sum(i.bytes) AS bytes, sum(i.calls) AS calls,
            coalesce(sum(i.bytes) FILTER (WHERE e.job IS NULL), 0) AS bytes_without_job,
            coalesce(sum(i.bytes) FILTER (WHERE e.uid IS NULL), 0) AS bytes_without_user,
            coalesce(sum(i.calls) FILTER (WHERE e.job IS NULL), 0) AS calls_without_job,
            coalesce(sum(i.calls) FILTER (WHERE e.uid IS NULL), 0) AS calls_without_user
        FROM (
            SELECT i.target_id, i.entry_id, sum(coalesce(i.read_bytes, 0) + coalesce(i.write_bytes, 0)) AS bytes,
                sum(@calls@) AS calls
            FROM jobstats.increments i
            WHERE i."time" > h.hour AND i."time" <= h.hour + interval '1 hour'
            GROUP BY i.target_id, i.entry_id
        ) i
        JOIN jobstats.entries e ON e.entry_id = i.entry_id
        GROUP BY i.target_id
    ) a ON a.target_id = o.observed_id
    -- Keeps the two sums together: each is made once per hour.
    OFFSET 0
) q
JOIN jobstats.targets t ON t.target_id = q.observed_id;
