-- Writes jobs that are new or have changed.
INSERT INTO jobstats.job_ids (job_no, scheduler, job, label, runs, submitted, started, ended, last_started, @names@, job_group, state, nodes, cpus)
OVERRIDING SYSTEM VALUE
SELECT f.job_no, f.scheduler, f.job, f.label, f.runs, timestamptz 'epoch' + f.submitted * interval '1 microsecond',
    timestamptz 'epoch' + f.started * interval '1 microsecond', timestamptz 'epoch' + f.ended * interval '1 microsecond',
    timestamptz 'epoch' + f.last_started * interval '1 microsecond', @values@, f.job_group, f.state, f.nodes, f.cpus
FROM jsonb_to_recordset($1::jsonb) AS f (job_no bigint, scheduler text, job text, label text, runs bigint, submitted bigint, started bigint,
    ended bigint, last_started bigint, @definitions@, job_group text, state text, nodes bigint, cpus bigint)
ON CONFLICT (job_no) DO UPDATE
SET label = excluded.label, runs = excluded.runs, submitted = excluded.submitted, started = excluded.started, ended = excluded.ended,
    last_started = excluded.last_started, @updates@, job_group = excluded.job_group, state = excluded.state, nodes = excluded.nodes, cpus = excluded.cpus
