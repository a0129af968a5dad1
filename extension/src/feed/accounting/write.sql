-- Writes rows that are new or have changed.
INSERT INTO jobstats.jobs (scheduler, job, label, submitted, started, ended, uid, user_name, gid, group_name, account, "partition", qos,
    job_name, state, nodes, node_list, cpus, exit_code, parent, extra, updated, provenance, source)
SELECT f.scheduler, f.job, f.label, f.submitted, f.started, f.ended, f.uid, f.user_name, f.gid, f.group_name, f.account, f."partition", f.qos,
    f.job_name, f.state, f.nodes, f.node_list, f.cpus, f.exit_code, f.parent, f.extra::jsonb, f.updated, f.provenance::jsonb, $24
FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[], $7::bigint[], $8::text[],
    $9::bigint[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::bigint[], $17::text[],
    $18::bigint[], $19::text[], $20::text[], $21::text[], $22::timestamptz[], $23::text[]) AS f (scheduler, job, label, submitted, started,
    ended, uid, user_name, gid, group_name, account, "partition", qos, job_name, state, nodes, node_list, cpus, exit_code, parent, extra,
    updated, provenance)
ON CONFLICT (scheduler, job, label, submitted, started) DO UPDATE
SET ended = excluded.ended, uid = excluded.uid, user_name = excluded.user_name, gid = excluded.gid, group_name = excluded.group_name,
    account = excluded.account, "partition" = excluded."partition", qos = excluded.qos, job_name = excluded.job_name,
    state = excluded.state, nodes = excluded.nodes, node_list = excluded.node_list, cpus = excluded.cpus,
    exit_code = excluded.exit_code, parent = excluded.parent, extra = excluded.extra, source = excluded.source,
    updated = excluded.updated, provenance = excluded.provenance
