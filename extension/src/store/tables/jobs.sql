-- The tables of users and jobs.

CREATE TABLE IF NOT EXISTS jobstats.users (
    uid bigint PRIMARY KEY,
    user_name text NOT NULL,
    gid bigint,
    since timestamptz NOT NULL DEFAULT '-infinity',
    seen timestamptz NOT NULL DEFAULT '-infinity',
    source text NOT NULL DEFAULT 'getent' CHECK (source IN ('getent', 'accounting'))
);
CREATE INDEX IF NOT EXISTS users_user_name ON jobstats.users (user_name);

-- Former names of users, and of groups in the same way. The names of a number have no gaps: each begins where the previous one ends.
CREATE TABLE IF NOT EXISTS jobstats.earlier_users (
    uid bigint NOT NULL,
    user_name text NOT NULL,
    gid bigint,
    since timestamptz NOT NULL,
    until timestamptz NOT NULL,
    seen timestamptz NOT NULL DEFAULT '-infinity',
    PRIMARY KEY (uid, until)
);

CREATE TABLE IF NOT EXISTS jobstats.groups (
    gid bigint PRIMARY KEY,
    group_name text NOT NULL,
    since timestamptz NOT NULL DEFAULT '-infinity',
    seen timestamptz NOT NULL DEFAULT '-infinity',
    source text NOT NULL DEFAULT 'getent' CHECK (source IN ('getent', 'accounting'))
);

CREATE TABLE IF NOT EXISTS jobstats.earlier_groups (
    gid bigint NOT NULL,
    group_name text NOT NULL,
    since timestamptz NOT NULL,
    until timestamptz NOT NULL,
    seen timestamptz NOT NULL DEFAULT '-infinity',
    PRIMARY KEY (gid, until)
);

CREATE TABLE IF NOT EXISTS jobstats.jobs (
    scheduler text NOT NULL,
    job text NOT NULL,
    label text NOT NULL,
    submitted timestamptz,
    started timestamptz,
    ended timestamptz,
    @job_columns@,
    state text,
    nodes bigint,
    node_list text,
    cpus bigint,
    exit_code text,
    parent text,
    extra jsonb,
    source text NOT NULL,
    updated timestamptz NOT NULL,
    provenance jsonb,
    UNIQUE NULLS NOT DISTINCT (scheduler, job, label, submitted, started)
-- Each text changes the rows of all jobs that run. In pages with room for that, no index is written.
) WITH (fillfactor = 75);
-- No index has `updated`: each text changes it in all rows that it repeats.
CREATE INDEX IF NOT EXISTS jobs_ended ON jobstats.jobs (ended);
CREATE INDEX IF NOT EXISTS jobs_job ON jobstats.jobs (job text_pattern_ops);
CREATE INDEX IF NOT EXISTS jobs_uid ON jobstats.jobs (uid);
CREATE INDEX IF NOT EXISTS jobs_account ON jobstats.jobs (account);
CREATE INDEX IF NOT EXISTS jobs_label ON jobstats.jobs (label text_pattern_ops);
-- Jobs whose users are known only by name.
CREATE INDEX IF NOT EXISTS jobs_user_name ON jobstats.jobs (user_name) WHERE uid IS NULL;

CREATE TABLE IF NOT EXISTS jobstats.schedulers (
    scheduler text PRIMARY KEY,
    newest timestamptz NOT NULL
);

CREATE TABLE IF NOT EXISTS jobstats.job_ids (
    job_no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    scheduler text NOT NULL,
    job text NOT NULL,
    label text,
    runs bigint NOT NULL,
    submitted timestamptz,
    started timestamptz NOT NULL,
    ended timestamptz,
    last_started timestamptz NOT NULL,
    @job_columns@,
    job_group text,
    state text,
    nodes bigint,
    cpus bigint
);
CREATE INDEX IF NOT EXISTS job_ids_job ON jobstats.job_ids (job text_pattern_ops);
CREATE INDEX IF NOT EXISTS job_ids_account ON jobstats.job_ids (account);
CREATE INDEX IF NOT EXISTS job_ids_user ON jobstats.job_ids (uid, coalesce(ended, timestamptz 'infinity'));

-- The job of an entry. Ranges begin and end at 0:00 UTC, so that they do not divide buckets of rollups.
CREATE TABLE IF NOT EXISTS jobstats.entry_jobs (
    entry_id bigint NOT NULL,
    valid_from timestamptz NOT NULL,
    valid_to timestamptz NOT NULL,
    job_no bigint,
    status text NOT NULL,
    alone boolean NOT NULL,
    PRIMARY KEY (entry_id, valid_from)
);
CREATE INDEX IF NOT EXISTS entry_jobs_job ON jobstats.entry_jobs (job_no);
CREATE INDEX IF NOT EXISTS entry_jobs_several ON jobstats.entry_jobs (valid_to) WHERE NOT alone;

CREATE TABLE IF NOT EXISTS jobstats.to_match (
    job text NOT NULL
);

CREATE TABLE IF NOT EXISTS jobstats.to_resolve (
    uid bigint NOT NULL,
    user_name text NOT NULL
);

CREATE TABLE IF NOT EXISTS jobstats.to_summarize (
    job_no bigint PRIMARY KEY,
    due timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS to_summarize_due ON jobstats.to_summarize (due);

CREATE TABLE IF NOT EXISTS jobstats.job_summaries (
    job_no bigint PRIMARY KEY,
    scheduler text NOT NULL,
    job text NOT NULL,
    label text,
    runs bigint NOT NULL,
    submitted timestamptz,
    started timestamptz NOT NULL,
    ended timestamptz NOT NULL,
    run_time interval NOT NULL,
    @job_columns@,
    state text,
    exit_code text,
    nodes bigint,
    cpus bigint,
    first timestamptz,
    last_active timestamptz,
    active_nodes bigint NOT NULL,
    targets bigint NOT NULL,
    read_bytes numeric NOT NULL,
    write_bytes numeric NOT NULL,
    read numeric NOT NULL,
    write numeric NOT NULL,
    opens numeric NOT NULL,
    metadata numeric NOT NULL,
    service_time numeric,
    in_service double precision,
    busiest_target text,
    energy numeric,
    operations jsonb NOT NULL,
    made timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS job_summaries_ended ON jobstats.job_summaries (ended);
CREATE INDEX IF NOT EXISTS job_summaries_job ON jobstats.job_summaries (job text_pattern_ops);
CREATE INDEX IF NOT EXISTS job_summaries_uid ON jobstats.job_summaries (uid, ended);
CREATE INDEX IF NOT EXISTS job_summaries_account ON jobstats.job_summaries (account);
CREATE INDEX IF NOT EXISTS job_summaries_label ON jobstats.job_summaries (label text_pattern_ops);

CREATE TABLE IF NOT EXISTS jobstats.finding_rules (
    finding text PRIMARY KEY,
    fair double precision NOT NULL,
    bad double precision NOT NULL CHECK (bad >= fair),
    absolute double precision,
    enabled boolean NOT NULL DEFAULT true,
    advice text NOT NULL,
    url text,
    fair_of_site double precision,
    bad_of_site double precision,
    jobs bigint
);
INSERT INTO jobstats.finding_rules (finding, fair, bad, absolute, advice)
VALUES
    ('small_reads', 0.1, 0.5, 0.99, 'Read 1 MiB and more at once: with a larger buffer, or with a library that collects reads (HDF5, NetCDF, MPI-IO).'),
    ('small_writes', 0.1, 0.5, 0.99, 'Write 1 MiB and more at once: with a larger buffer, or with a library that collects writes (HDF5, NetCDF, MPI-IO).'),
    ('small_files', 0.1, 0.5, NULL, 'Pack small files together (tar, HDF5, SQLite), or write them to a local disk and copy them as one.'),
    ('opens', 1, 10, NULL, 'Keep files open, and pack small files together: each open is a request to a metadata server.'),
    ('getattrs', 10, 100, NULL, 'List and stat less: no ls -l, find or du in loops, no polling for files.'),
    ('syncs', 0.1, 0.5, 0.9, 'Sync rarely: once per checkpoint and not after each write. Databases and logs belong on a local disk.'),
    ('short_lived_files', 0.8, 0.95, NULL, 'Put temporary files on a local disk or in memory (TMPDIR, /dev/shm).'),
    ('mass_deletion', 100000, 1000000, 1000000, 'Delete from one or two processes and at quiet hours (lfs find DIRECTORY -type f -print0 | xargs -0 rm -f), or leave it to the purge policy of the site.'),
    ('one_target', 0.9, 0.99, NULL, 'Stripe large files over several OSTs: lfs setstripe -c 4 DIRECTORY, before they are written.'),
    ('metadata', 0.5, 0.9, NULL, 'Create, open and stat fewer files: pack them together, and work in memory or on a local disk.')
ON CONFLICT DO NOTHING;

CREATE TABLE IF NOT EXISTS jobstats.finding_days (
    day timestamptz,
    finding text,
    "values" double precision[] NOT NULL,
    PRIMARY KEY (day, finding)
);

CREATE TABLE IF NOT EXISTS jobstats.finding_progress (
    day timestamptz PRIMARY KEY,
    sized timestamptz NOT NULL,
    job text NOT NULL DEFAULT '',
    rule text NOT NULL DEFAULT ''
);

CREATE TABLE IF NOT EXISTS jobstats.finding_sizes (
    job text PRIMARY KEY,
    reads double precision NOT NULL,
    small_reads double precision NOT NULL,
    writes double precision NOT NULL,
    small_writes double precision NOT NULL
);

CREATE TABLE IF NOT EXISTS jobstats.advice (
    cluster text NOT NULL,
    status text NOT NULL,
    remedy text NOT NULL,
    noted timestamptz NOT NULL,
    PRIMARY KEY (cluster, status)
);

-- Texts of users and jobs. With a few per hour, old rows are deleted: they need no partitions.
CREATE TABLE IF NOT EXISTS jobstats.texts (
    received timestamptz NOT NULL,
    "time" timestamptz NOT NULL,
    cluster text NOT NULL,
    server text NOT NULL,
    source text NOT NULL,
    covers tstzrange,
    body bytea,
    digest bytea NOT NULL,
    records integer NOT NULL,
    problems integer NOT NULL,
    PRIMARY KEY (cluster, source, server, "time")
);
CREATE INDEX IF NOT EXISTS texts_time ON jobstats.texts ("time");
CREATE INDEX IF NOT EXISTS texts_body ON jobstats.texts (digest) WHERE body IS NOT NULL;
CREATE INDEX IF NOT EXISTS texts_equal ON jobstats.texts (digest, "time") WHERE body IS NULL;

-- The spans whose accounting has been read. Spans of a cluster and source do not touch.
CREATE TABLE IF NOT EXISTS jobstats.covered (
    cluster text NOT NULL,
    source text NOT NULL,
    since timestamptz NOT NULL,
    until timestamptz NOT NULL,
    PRIMARY KEY (cluster, source, until)
);

CREATE TABLE IF NOT EXISTS jobstats.nodes (
    pattern text PRIMARY KEY,
    scheduler text,
    class text NOT NULL DEFAULT 'compute' CHECK (class IN ('compute', 'login', 'transfer', 'gateway', 'service'))
);
