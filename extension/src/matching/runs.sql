-- The runs of jobs of these numbers that have begun, as JSON, in the order in which jobs are made of them; at most $2, the newest. A name that
-- accounting gave to a number proves nothing.
SELECT n.job, jsonb_strip_nulls(to_jsonb(r))::text AS run
FROM (
    SELECT j.* FROM jobstats.jobs j
    WHERE j.job = ANY ($1) AND j.started IS NOT NULL
    ORDER BY j.started DESC LIMIT $2
) n
CROSS JOIN LATERAL (
    SELECT n.scheduler, n.label, (extract(epoch FROM n.submitted) * 1000000)::bigint AS submitted,
        (extract(epoch FROM n.started) * 1000000)::bigint AS started, (extract(epoch FROM n.ended) * 1000000)::bigint AS ended,
        (extract(epoch FROM n.updated) * 1000000)::bigint AS updated, n.state, n.node_list,
        CASE WHEN n.uid IS NOT NULL THEN n.uid
            ELSE (SELECT min(u.uid) FROM jobstats.users u WHERE u.user_name = n.user_name AND u.source = text 'getent') END AS uid,
        n.user_name, n.gid, n.group_name, n.account, n."partition", n.qos, n.job_name, n.nodes, n.cpus
) r
ORDER BY n.job, n.started, n.scheduler, n.label
