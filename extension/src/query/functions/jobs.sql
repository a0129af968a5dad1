-- The jobs of schedulers that ran in a window, with their usage: of ended jobs from their summaries, of running ones so far (@sums@).
WITH running AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset(@sums@::jsonb) AS sums (job text, nodes bigint, read_bytes numeric, write_bytes numeric, metadata numeric, service_time numeric)
)
SELECT coalesce(job.label, job.job) AS job, job.job_name, coalesce(person.user_name, job.user_name) AS user_name, job.account,
    job.state, job.started, job.ended, done.run_time, coalesce(job.nodes, done.active_nodes, running.nodes) AS nodes,
    -- An idle job has no sums.
    coalesce(done.read_bytes, running.read_bytes, 0) AS read_bytes, coalesce(done.write_bytes, running.write_bytes, 0) AS write_bytes,
    coalesce(done.metadata, running.metadata, 0) AS metadata,
    CASE WHEN coalesce(done.job_no::text, running.job) IS NULL THEN 0 ELSE coalesce(done.service_time, running.service_time) END AS service_time, done.energy,
    -- A star in a name is no pattern.
    jsonb_build_object(text 'job', jobstats_internal.exactly(job.job)) AS labels
@from@
ORDER BY @order@job.started DESC, job.job_no DESC
LIMIT @n@
