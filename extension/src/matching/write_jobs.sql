-- Writes jobs that are new or have changed.
INSERT INTO jobstats.job_ids (job_no, scheduler, job, label, runs, submitted, started, ended, last_started, uid, user_name, gid, group_name,
    account, "partition", qos, job_name, job_group, state, nodes, cpus)
OVERRIDING SYSTEM VALUE
SELECT f.job_no, f.scheduler, f.job, f.label, f.runs, timestamptz 'epoch' + f.submitted * interval '1 microsecond',
    timestamptz 'epoch' + f.started * interval '1 microsecond', timestamptz 'epoch' + f.ended * interval '1 microsecond',
    timestamptz 'epoch' + f.last_started * interval '1 microsecond', f.uid, f.user_name, f.gid, f.group_name, f.account, f."partition",
    f.qos, f.job_name, f.job_group, f.state, f.nodes, f.cpus
FROM jsonb_to_recordset($1::jsonb) AS f (job_no bigint, scheduler text, job text, label text, runs bigint, submitted bigint, started bigint,
    ended bigint, last_started bigint, uid bigint, user_name text, gid bigint, group_name text, account text, "partition" text, qos text,
    job_name text, job_group text, state text, nodes bigint, cpus bigint)
ON CONFLICT (job_no) DO UPDATE
SET label = excluded.label, runs = excluded.runs, submitted = excluded.submitted, started = excluded.started, ended = excluded.ended,
    last_started = excluded.last_started, uid = excluded.uid, user_name = excluded.user_name, gid = excluded.gid,
    group_name = excluded.group_name, account = excluded.account, "partition" = excluded."partition", qos = excluded.qos,
    job_name = excluded.job_name, job_group = excluded.job_group, state = excluded.state, nodes = excluded.nodes, cpus = excluded.cpus
