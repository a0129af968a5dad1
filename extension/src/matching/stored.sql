-- The jobs of these numbers that are stored, as JSON.
SELECT i.job_no, i.job, jsonb_strip_nulls(to_jsonb(r))::text AS stored
FROM jobstats.job_ids i
CROSS JOIN LATERAL (
    SELECT i.scheduler, i.label, i.runs, (extract(epoch FROM i.submitted) * 1000000)::bigint AS submitted,
        (extract(epoch FROM i.started) * 1000000)::bigint AS started, (extract(epoch FROM i.ended) * 1000000)::bigint AS ended,
        (extract(epoch FROM i.last_started) * 1000000)::bigint AS last_started, i.state, @values@, i.job_group, i.nodes, i.cpus
) r
WHERE i.job = ANY ($1)
ORDER BY i.job_no
