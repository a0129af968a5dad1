-- Writes rows that are new or have changed.
INSERT INTO jobstats.jobs (scheduler, job, label, submitted, started, ended, uid, user_name, gid, group_name, account, "partition", qos,
    job_name, state, nodes, node_list, cpus, exit_code, parent, extra, source, updated, provenance)
SELECT f.scheduler, f.job, f.label, timestamptz 'epoch' + f.submitted * interval '1 microsecond',
    timestamptz 'epoch' + f.started * interval '1 microsecond', timestamptz 'epoch' + f.ended * interval '1 microsecond',
    f.uid, f.user_name, f.gid, f.group_name, f.account, f."partition", f.qos, f.job_name, f.state, f.nodes, f.node_list, f.cpus,
    f.exit_code, f.parent, f.extra, $2, timestamptz 'epoch' + f.updated * interval '1 microsecond', f.provenance
FROM jsonb_to_recordset($1::jsonb) AS f (scheduler text, job text, label text, submitted bigint, started bigint, ended bigint, uid bigint,
    user_name text, gid bigint, group_name text, account text, "partition" text, qos text, job_name text, state text, nodes bigint,
    node_list text, cpus bigint, exit_code text, parent text, extra jsonb, updated bigint, provenance jsonb)
ON CONFLICT (scheduler, job, label, submitted, started) DO UPDATE
SET ended = excluded.ended, uid = excluded.uid, user_name = excluded.user_name, gid = excluded.gid, group_name = excluded.group_name,
    account = excluded.account, "partition" = excluded."partition", qos = excluded.qos, job_name = excluded.job_name,
    state = excluded.state, nodes = excluded.nodes, node_list = excluded.node_list, cpus = excluded.cpus,
    exit_code = excluded.exit_code, parent = excluded.parent, extra = excluded.extra, source = excluded.source,
    updated = excluded.updated, provenance = excluded.provenance
