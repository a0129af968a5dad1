-- The rows of submissions; `place` is that of the submission in the arrays.
SELECT k.number - 1 AS place, j.ctid::text AS at, j.started, j.ended, j.uid, j.user_name, j.gid, j.group_name, j.account, j."partition", j.qos,
    j.job_name, j.state, j.nodes, j.node_list, j.cpus, j.exit_code, j.parent, j.extra::text AS extra, j.updated, j.provenance::text AS provenance
FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) WITH ORDINALITY AS k (scheduler, job, label, submitted, number)
JOIN jobstats.jobs j ON j.scheduler = k.scheduler AND j.job = k.job AND j.label = k.label AND j.submitted IS NOT DISTINCT FROM k.submitted
