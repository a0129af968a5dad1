-- The runs of jobs of these numbers that have begun, as JSON, in the order in which jobs are made of them: at most $2 of each scheduler
-- and number, the newest. A very long list of nodes counts as unknown, and so does the number of a user whose name several have.
SELECT n.job, jsonb_strip_nulls(to_jsonb(r))::text AS run
FROM (
    SELECT j.*, row_number() OVER (PARTITION BY j.job, j.scheduler ORDER BY j.started DESC) AS position
    FROM jobstats.jobs j
    WHERE j.job = ANY ($1) AND j.started IS NOT NULL
) n
CROSS JOIN LATERAL (
    SELECT n.scheduler, n.label, (extract(epoch FROM n.submitted) * 1000000)::bigint AS submitted,
        (extract(epoch FROM n.started) * 1000000)::bigint AS started, (extract(epoch FROM n.ended) * 1000000)::bigint AS ended,
        (extract(epoch FROM n.updated) * 1000000)::bigint AS updated, n.state,
        CASE WHEN octet_length(n.node_list) <= 2048 THEN n.node_list END AS node_list,
        CASE WHEN n.uid IS NOT NULL THEN n.uid
            ELSE (SELECT CASE WHEN count(*) = 1 THEN min(u.uid) END
                FROM jobstats.users u WHERE u.user_name = n.user_name AND u.source = 'getent') END AS uid,
        @values@, coalesce(n.parent, n.job) AS job_group, n.nodes, n.cpus
) r
WHERE n.position <= $2
ORDER BY n.job, n.started, n.scheduler, n.label
