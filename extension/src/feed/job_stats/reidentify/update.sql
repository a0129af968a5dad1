-- Updates changed entries, locked in the order of their keys as by feeds. Returns whether the job has to be matched again, and
-- whether the user has changed.
WITH new AS MATERIALIZED (
    SELECT n.*, CASE WHEN n.list IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(n.list::jsonb)) END AS clusters
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], @arrays@)
        AS n (entry_id, name, workload, list, @names@)
), old AS MATERIALIZED (
    SELECT e.entry_id, e.job, e.uid, e.node
    FROM jobstats.entries e
    JOIN new n ON n.entry_id = e.entry_id
    -- An entry that claims a job of another user has its own status and workload.
    WHERE (coalesce(e.claimed, e.job), @stored@, e.clusters) IS DISTINCT FROM (n.job, @read@, n.clusters)
        OR e.claimed IS NULL AND (e.status, e.workload) IS DISTINCT FROM (n.status, n.workload)
    ORDER BY e.entry_id
    FOR NO KEY UPDATE OF e
)
UPDATE jobstats.entries e
SET @updates@, workload = n.workload, claimed = NULL, clusters = n.clusters
FROM old o
JOIN new n ON n.entry_id = o.entry_id
WHERE e.entry_id = o.entry_id
RETURNING e.entry_id, e.job, (o.job, o.uid, o.node) IS DISTINCT FROM (e.job, e.uid, e.node) AS other_work, o.uid IS DISTINCT FROM e.uid AS other_user
