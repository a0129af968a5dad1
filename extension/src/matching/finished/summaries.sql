-- Makes the summaries of these jobs ($1), or makes them again. What a rollup has lost, or retention has taken from a job, stays as it was
-- summed up before. A job that was over before anything was observed has no summary.
WITH level AS MATERIALIZED (
    SELECT l.refreshed AS days, l.dropped FROM jobstats.rollups l WHERE l.level = text '1d'
), job AS MATERIALIZED (
    SELECT i.* FROM jobstats.job_ids i WHERE i.job_no = ANY ($1) AND i.ended IS NOT NULL
), spans AS MATERIALIZED (
    SELECT date_bin(interval '1 day', min(j.started), timestamptz 'epoch') - interval '1 day' AS since,
        date_bin(interval '1 day', max(j.ended), timestamptz 'epoch') + interval '3 days' AS until
    FROM job j
), matched AS MATERIALIZED (
    SELECT m.job_no, m.entry_id, m.valid_from, m.valid_to FROM jobstats.entry_jobs m WHERE m.job_no = ANY ($1)
), usage AS NOT MATERIALIZED (
    SELECT m.job_no, m.entry_id, u.*
    FROM matched m
    CROSS JOIN LATERAL (
        SELECT rollup.target_id, rollup.first, rollup.last@columns@
        FROM jobstats.rollup_1d rollup
        WHERE rollup.entry_id = m.entry_id AND rollup.bucket > m.valid_from AND rollup.bucket <= m.valid_to
            AND rollup.bucket <= (SELECT l.days FROM level l)
            AND rollup.bucket > (SELECT s.since FROM spans s) AND rollup.bucket <= (SELECT s.until FROM spans s)
        UNION ALL
        SELECT rollup.target_id, rollup.first, rollup.last@columns@
        FROM jobstats.rollup_10m rollup
        WHERE rollup.entry_id = m.entry_id AND rollup.bucket > m.valid_from AND rollup.bucket <= m.valid_to
            AND rollup.bucket > (SELECT l.days FROM level l)
            AND rollup.bucket > (SELECT s.since FROM spans s) AND rollup.bucket <= (SELECT s.until FROM spans s)
    ) u
), done AS MATERIALIZED (
    SELECT usage.job_no, count(DISTINCT usage.target_id) AS targets, count(DISTINCT split_part(entry.node, text '.', 1)) AS active_nodes,
        min(usage.first) AS first, max(usage.last) AS last_active, sum(usage.read_bytes) AS read_bytes, sum(usage.write_bytes) AS write_bytes,
        sum(usage.read) AS read, sum(usage.write) AS write, sum(usage.open) AS opens, @metadata@ AS metadata,
        @service_time@ * 0.000001 AS service_time, @service_calls@ AS service_calls,
        @operations@ AS operations
    FROM usage
    JOIN jobstats.targets target ON target.target_id = usage.target_id
    LEFT JOIN jobstats.entries entry ON entry.entry_id = usage.entry_id
    GROUP BY usage.job_no
), busiest AS MATERIALIZED (
    SELECT DISTINCT ON (b.job_no) b.job_no, b.name
    FROM (
        SELECT usage.job_no, target.name, @service_time@ AS service_time, @service_calls@ AS service_calls
        FROM usage JOIN jobstats.targets target ON target.target_id = usage.target_id
        GROUP BY usage.job_no, target.target_id, target.name
    ) b
    ORDER BY b.job_no, b.service_time DESC NULLS LAST, b.service_calls DESC NULLS LAST, b.name
), run AS MATERIALIZED (
    SELECT j.job_no, sum(r.lasted) AS run_time, CASE WHEN count(r.nodes) = count(*) THEN sum(extract(epoch FROM r.lasted) * r.nodes) END AS node_seconds,
        (array_agg(r.exit_code ORDER BY r.started DESC, r.label DESC))[1] AS exit_code
    FROM job j
    CROSS JOIN LATERAL (
        SELECT n.started, n.label, n.nodes, n.exit_code, greatest(coalesce(n.ended, n.updated) - n.started, interval '0') AS lasted
        FROM jobstats.jobs n
        WHERE n.scheduler = j.scheduler AND n.job = j.job AND n.started >= j.started AND n.started <= j.last_started
            AND (n.uid = j.uid OR n.uid IS NULL OR j.uid IS NULL) AND (n.user_name = j.user_name OR n.user_name IS NULL OR j.user_name IS NULL)
    ) r
    GROUP BY j.job_no
), begun AS MATERIALIZED (
    SELECT min(s.since) AS observed FROM jobstats.spans s
)
INSERT INTO jobstats.job_summaries AS s (job_no, scheduler, job, label, runs, submitted, started, ended, run_time, @names@, state, exit_code, nodes, cpus, first, last_active, active_nodes, targets, read_bytes,
    write_bytes, read, write, opens, metadata, service_time, in_service, busiest_target, operations, made)
SELECT j.job_no, j.scheduler, j.job, j.label, j.runs, j.submitted, j.started, j.ended, justify_hours(coalesce(r.run_time, interval '0')), j.uid,
    coalesce(u.user_name, j.user_name), @values@, j.state, r.exit_code, j.nodes, j.cpus,
    d.first, d.last_active, coalesce(d.active_nodes, 0), coalesce(d.targets, 0), coalesce(d.read_bytes, 0), coalesce(d.write_bytes, 0),
    coalesce(d.read, 0), coalesce(d.write, 0), coalesce(d.opens, 0), coalesce(d.metadata, 0),
    trim_scale(CASE WHEN d.service_calls > 0 THEN d.service_time ELSE 0 END),
    CASE WHEN d.service_calls > 0 THEN d.service_time ELSE 0 END / nullif(r.node_seconds, 0), b.name, coalesce(d.operations, '{}'::jsonb), now()
FROM job j
CROSS JOIN level l
LEFT JOIN done d ON d.job_no = j.job_no
LEFT JOIN busiest b ON b.job_no = j.job_no
LEFT JOIN run r ON r.job_no = j.job_no
LEFT JOIN jobstats.users u ON u.uid = j.uid
WHERE j.started >= l.dropped AND (d.job_no IS NOT NULL OR j.ended > (SELECT n.observed FROM begun n))
ON CONFLICT (job_no) DO UPDATE
SET scheduler = excluded.scheduler, job = excluded.job, label = excluded.label, runs = excluded.runs, submitted = excluded.submitted,
    started = excluded.started, ended = excluded.ended, run_time = excluded.run_time, @updates@, state = excluded.state, exit_code = excluded.exit_code, nodes = excluded.nodes, cpus = excluded.cpus,
    first = excluded.first, last_active = excluded.last_active, active_nodes = greatest(s.active_nodes, excluded.active_nodes), targets = excluded.targets,
    read_bytes = excluded.read_bytes, write_bytes = excluded.write_bytes, read = excluded.read, write = excluded.write,
    opens = excluded.opens, metadata = excluded.metadata, service_time = excluded.service_time, in_service = excluded.in_service,
    busiest_target = excluded.busiest_target, operations = excluded.operations, made = excluded.made
WHERE s.started >= (SELECT l.dropped FROM level l)
    AND (s.runs <= excluded.runs OR s.started >= (SELECT now() - t.jobs_retention FROM jobstats.settings t))
