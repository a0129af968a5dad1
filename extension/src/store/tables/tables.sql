-- The store's tables. Run by jobstats_setup(), which creates the schema first; every statement may run again.

CREATE TABLE IF NOT EXISTS jobstats.settings (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    version text NOT NULL,
    raw_retention interval NOT NULL DEFAULT '2 days' CHECK (raw_retention > '0'),
    retention interval NOT NULL DEFAULT '90 days',
    rejects_retention interval NOT NULL DEFAULT '14 days' CHECK (rejects_retention > '0'),
    max_ahead interval NOT NULL DEFAULT '5 minutes' CHECK (max_ahead >= '0'),
    max_text bigint NOT NULL DEFAULT 268435456 CHECK (max_text BETWEEN 1 AND 1073741823),
    refresh_lag interval NOT NULL DEFAULT '20 minutes' CHECK (refresh_lag >= '0'),
    chunk_interval interval NOT NULL DEFAULT '1 day' CHECK (chunk_interval >= '1 hour'),
    compress_after interval NOT NULL DEFAULT '7 days' CHECK (compress_after >= '0'),
    -- A higher limit could let a sum pass what a column can hold.
    max_rate bigint NOT NULL DEFAULT 1099511627776 CHECK (max_rate BETWEEN 1 AND 1099511627776),
    feed_wait interval NOT NULL DEFAULT '10 seconds' CHECK (feed_wait BETWEEN '100 milliseconds' AND '1 hour'),
    max_targets integer NOT NULL DEFAULT 1000 CHECK (max_targets > 0),
    max_answer bigint NOT NULL DEFAULT 536870912 CHECK (max_answer BETWEEN 1048576 AND 1099511627776),
    -- What feeds store of increments.
    keep text NOT NULL DEFAULT 'everything' CHECK (keep IN ('everything', 'no detail', 'counts')),
    -- How long a job is kept after its end, and the zone of times that were printed without one.
    jobs_retention interval NOT NULL DEFAULT '2 years' CHECK (jobs_retention > '0'),
    zone text NOT NULL DEFAULT 'UTC',
    -- Users below this number belong to the system: what they do for a job counts for it, but under their own number.
    system_uids_below bigint NOT NULL DEFAULT 1000 CHECK (system_uids_below >= 0),
    -- Users below this number belong to the system, and feeds add up what their entries did; 0 is nobody.
    fold_uids_below bigint NOT NULL DEFAULT 0 CHECK (fold_uids_below BETWEEN 0 AND 4294967295),
    -- Patterns of the names of metrics that are kept of texts of the source openmetrics.
    metrics text[] NOT NULL DEFAULT '{}',
    -- How long the store says who did something.
    personal_retention interval NOT NULL DEFAULT '13 months' CHECK (personal_retention > '0'),
    -- How many events of a file system are told in a week at most, how long events are kept, and how much longer their raw text is.
    alerts_per_week double precision NOT NULL DEFAULT 2 CHECK (alerts_per_week BETWEEN 0 AND 1000000),
    events_retention interval NOT NULL DEFAULT '2 years' CHECK (events_retention > '0'),
    evidence_retention interval NOT NULL DEFAULT '30 days' CHECK (evidence_retention >= '0'),
    -- The number of the store among the nodes of a front; whether it is a front itself, answers without nodes that do not answer, and how
    -- long it waits for them.
    node integer NOT NULL DEFAULT 0 CHECK (node BETWEEN 0 AND 32766),
    front boolean NOT NULL DEFAULT false,
    leave_out_nodes boolean NOT NULL DEFAULT true,
    node_timeout interval NOT NULL DEFAULT '2 minutes' CHECK (node_timeout BETWEEN '1 second' AND '1 hour'),
    -- Text whose observation is gone would be in the way of feeding it again.
    CONSTRAINT retention_covers_raw_retention CHECK (retention >= raw_retention)
);

CREATE TABLE IF NOT EXISTS jobstats.targets (
    target_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cluster text NOT NULL,
    name text NOT NULL,
    filesystem text,
    kind text NOT NULL CHECK (kind IN ('MDT', 'OST')),
    index integer,
    cleanup_interval interval,
    -- What feeds have counted since the target was first observed. Retention takes nothing of it back.
    observations_total bigint NOT NULL DEFAULT 0,
    text_bytes_total bigint NOT NULL DEFAULT 0,
    problems_total bigint NOT NULL DEFAULT 0,
    retired timestamptz,
    -- Up to when the newest bucket of a target's rates is known, the server that this was read from, and when it arrived.
    last_observation timestamptz,
    server text,
    received timestamptz,
    UNIQUE (cluster, name)
);

-- Text that was read before a target was renamed still has the earlier name.
CREATE TABLE IF NOT EXISTS jobstats.earlier_names (
    cluster text NOT NULL,
    name text NOT NULL,
    target_id integer NOT NULL,
    renamed timestamptz NOT NULL,
    PRIMARY KEY (cluster, name)
);

CREATE TABLE IF NOT EXISTS jobstats.expected (
    cluster text NOT NULL DEFAULT '',
    server text,
    target text,
    CHECK (num_nonnulls(server, target) > 0),
    UNIQUE NULLS NOT DISTINCT (cluster, server, target)
);

CREATE TABLE IF NOT EXISTS jobstats.entries (
    entry_id bigint PRIMARY KEY,
    name text NOT NULL,
    @identity@ NOT NULL,
    workload text NOT NULL,
    first_seen timestamptz NOT NULL,
    -- The clusters that have sent an entry; NULL: unknown, since no format depends on it.
    clusters text[],
    -- The number of another user's job that an identifier names. The entry has no job, as long as accounting says so.
    claimed text
);
CREATE INDEX IF NOT EXISTS entries_job ON jobstats.entries (job text_pattern_ops);
CREATE INDEX IF NOT EXISTS entries_uid ON jobstats.entries (uid);
-- Whether there are entries whose job alone says who the user is.
CREATE INDEX IF NOT EXISTS entries_without_uid ON jobstats.entries (entry_id) WHERE uid IS NULL AND job IS NOT NULL;
CREATE INDEX IF NOT EXISTS entries_claimed ON jobstats.entries (claimed text_pattern_ops) WHERE claimed IS NOT NULL;

-- Keys of entries and pseudonyms come from these, so that nobody can find out whose they are by trying all users and programs. The owner
-- alone may read them.
CREATE TABLE IF NOT EXISTS jobstats.secrets (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    keys bytea NOT NULL DEFAULT uuid_send(gen_random_uuid()) CHECK (octet_length(keys) = 16),
    mask bigint NOT NULL DEFAULT 0,
    pseudonyms bytea NOT NULL DEFAULT uuid_send(gen_random_uuid()) CHECK (octet_length(pseudonyms) = 16)
);
INSERT INTO jobstats.secrets DEFAULT VALUES ON CONFLICT DO NOTHING;

-- Users who were forgotten, while texts that are still kept may bring something of them back.
CREATE TABLE IF NOT EXISTS jobstats.forgotten (
    uid bigint PRIMARY KEY,
    user_names text[] NOT NULL DEFAULT '{}',
    gids bigint[] NOT NULL DEFAULT '{}',
    until timestamptz NOT NULL
);

-- A format may be that of some clusters and nodes.
CREATE TABLE IF NOT EXISTS jobstats.entry_formats (
    priority integer PRIMARY KEY,
    format text NOT NULL,
    node_label text,
    cluster text,
    node_pattern text
);

-- gid is the user's primary group, since is when the user got the name, seen when a text last said so, and source who said it.
CREATE TABLE IF NOT EXISTS jobstats.users (
    uid bigint PRIMARY KEY,
    user_name text NOT NULL,
    gid bigint,
    since timestamptz NOT NULL DEFAULT '-infinity',
    seen timestamptz NOT NULL DEFAULT '-infinity',
    source text NOT NULL DEFAULT 'getent' CHECK (source IN ('getent', 'accounting'))
);
CREATE INDEX IF NOT EXISTS users_user_name ON jobstats.users (user_name);

-- Names that users had before, and groups in the same way. What is known of a number follows without gaps: each name begins where
-- the one before ends.
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

-- A row for each run of a job. A job that has not begun yet is a row without a start.
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
-- The jobs whose users only names tell.
CREATE INDEX IF NOT EXISTS jobs_user_name ON jobstats.jobs (user_name) WHERE uid IS NULL;

-- Up to when texts have named jobs of each scheduler.
CREATE TABLE IF NOT EXISTS jobstats.schedulers (
    scheduler text PRIMARY KEY,
    newest timestamptz NOT NULL
);

-- The jobs that entries are matched with: all runs and elements of a number that lie less than seven days apart.
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
-- The jobs of a user at a time.
CREATE INDEX IF NOT EXISTS job_ids_user ON jobstats.job_ids (uid, coalesce(ended, timestamptz 'infinity'));

-- Which job an entry belongs to. Ranges begin and end at 0:00 UTC, so that none of them divides a bucket of a rollup.
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

-- The numbers of jobs whose entries have to be matched, since entries or runs of them are new or have changed.
CREATE TABLE IF NOT EXISTS jobstats.to_match (
    job text NOT NULL
);

-- The names that getent has given to users, or taken from them, since maintenance last matched entries with jobs.
CREATE TABLE IF NOT EXISTS jobstats.to_resolve (
    uid bigint NOT NULL,
    user_name text NOT NULL
);

-- Jobs that are done, whose summaries have to be made, since they or their usage have changed. Nothing is known of all their work before
-- `due`.
CREATE TABLE IF NOT EXISTS jobstats.to_summarize (
    job_no bigint PRIMARY KEY,
    due timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS to_summarize_due ON jobstats.to_summarize (due);

-- A row for each job that is done. It stays when the job, its entries and their usage are gone.
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

-- The rules by which work is judged. A site edits them; setup adds those that are missing.
CREATE TABLE IF NOT EXISTS jobstats.finding_rules (
    finding text PRIMARY KEY,
    fair double precision NOT NULL,
    bad double precision NOT NULL CHECK (bad >= fair),
    enabled boolean NOT NULL DEFAULT true,
    advice text NOT NULL,
    url text,
    fair_of_site double precision,
    bad_of_site double precision,
    jobs bigint
);
INSERT INTO jobstats.finding_rules (finding, fair, bad, advice)
VALUES
    ('small_reads', 0.1, 0.5, 'Read 1 MiB and more at once: with a larger buffer, or with a library that collects reads (HDF5, NetCDF, MPI-IO).'),
    ('small_writes', 0.1, 0.5, 'Write 1 MiB and more at once: with a larger buffer, or with a library that collects writes (HDF5, NetCDF, MPI-IO).'),
    ('small_files', 0.1, 0.5, 'Pack small files together (tar, HDF5, SQLite), or write them to a disk of the node and copy them as one.'),
    ('opens', 1, 10, 'Keep files open, and pack small files together: each open is a request to a metadata server.'),
    ('getattrs', 10, 100, 'List and stat less: no ls -l, find or du in loops, no waiting for a file by asking again and again.'),
    ('syncs', 0.1, 0.5, 'Sync rarely: once per checkpoint and not after each write. Databases and logs belong on a disk of the node.'),
    ('short_lived_files', 0.8, 0.95, 'Put temporary files on a disk of the node or in memory (TMPDIR, /dev/shm).'),
    ('one_target', 0.9, 0.99, 'Stripe large files over several OSTs: lfs setstripe -c 4 DIRECTORY, before they are written.'),
    ('metadata', 0.5, 0.9, 'Make, open and ask for fewer files: pack them together, and work in memory or on a disk of the node.')
ON CONFLICT DO NOTHING;

-- What jobs of a day, which ended at `day`, had as values by each rule.
CREATE TABLE IF NOT EXISTS jobstats.finding_days (
    day timestamptz,
    finding text,
    "values" double precision[] NOT NULL,
    PRIMARY KEY (day, finding)
);

-- The day that is being valued, and how far that is.
CREATE TABLE IF NOT EXISTS jobstats.finding_progress (
    day timestamptz PRIMARY KEY,
    sized timestamptz NOT NULL,
    job text NOT NULL DEFAULT '',
    rule text NOT NULL DEFAULT ''
);

-- Of its jobs the reads and writes whose sizes are known, and those of them that are small.
CREATE TABLE IF NOT EXISTS jobstats.finding_sizes (
    job text PRIMARY KEY,
    reads double precision NOT NULL,
    small_reads double precision NOT NULL,
    writes double precision NOT NULL,
    small_writes double precision NOT NULL
);

-- The formats by which all entries are identified, and those of a change that is under way. NULL: none.
CREATE TABLE IF NOT EXISTS jobstats.identification (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    formats jsonb,
    under_way jsonb,
    after bigint,
    again boolean NOT NULL DEFAULT false
);
INSERT INTO jobstats.identification DEFAULT VALUES ON CONFLICT DO NOTHING;

-- Entries that have to be identified again.
CREATE TABLE IF NOT EXISTS jobstats.to_identify (
    entry_id bigint NOT NULL
);

-- What needs care in these matches, as maintenance last found.
CREATE TABLE IF NOT EXISTS jobstats.advice (
    cluster text NOT NULL,
    status text NOT NULL,
    remedy text NOT NULL,
    noted timestamptz NOT NULL,
    PRIMARY KEY (cluster, status)
);

-- Texts of people and jobs. A few come in an hour: they are kept by deleting old rows, and need no partitions.
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

-- The spans of time of which accounting has been read. No two of a cluster and source touch each other.
CREATE TABLE IF NOT EXISTS jobstats.covered (
    cluster text NOT NULL,
    source text NOT NULL,
    since timestamptz NOT NULL,
    until timestamptz NOT NULL,
    PRIMARY KEY (cluster, source, until)
);

-- Which nodes there are: patterns of their names.
CREATE TABLE IF NOT EXISTS jobstats.nodes (
    pattern text PRIMARY KEY,
    scheduler text,
    class text NOT NULL DEFAULT 'compute' CHECK (class IN ('compute', 'login', 'transfer', 'gateway', 'service'))
);

CREATE TABLE IF NOT EXISTS jobstats.rejects (
    "time" timestamptz NOT NULL,
    received timestamptz NOT NULL,
    cluster text NOT NULL,
    server text,
    target text,
    line integer,
    reason text NOT NULL,
    text text
);
CREATE INDEX IF NOT EXISTS rejects_received ON jobstats.rejects (received);

CREATE TABLE IF NOT EXISTS jobstats.rollups (
    level text PRIMARY KEY,
    width interval NOT NULL,
    refreshed timestamptz NOT NULL DEFAULT 'epoch',
    dropped timestamptz NOT NULL DEFAULT 'epoch',
    users_refreshed timestamptz NOT NULL DEFAULT 'epoch',
    retention interval CHECK (retention > '0')
);

CREATE TABLE IF NOT EXISTS jobstats.refresh (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    number integer NOT NULL DEFAULT 0,
    settled integer NOT NULL DEFAULT 0,
    announced timestamptz NOT NULL DEFAULT 'epoch',
    horizon timestamptz NOT NULL DEFAULT 'epoch',
    dropped timestamptz NOT NULL DEFAULT 'epoch',
    -- Up to when entries that were active are matched with jobs.
    matched timestamptz NOT NULL DEFAULT 'epoch',
    clock timestamptz NOT NULL DEFAULT now()
);
INSERT INTO jobstats.refresh DEFAULT VALUES ON CONFLICT DO NOTHING;

-- Rows to be locked: by setup, steps of maintenance and conversions; by feeds that know an announcement of a refresh; by
-- feeds that have found their entries; by feeds of jobs, which add a row for each cluster; by feeds of names, which feeds of jobs
-- may lock too, after theirs; and by feeds of what servers count, which add a row for each server and lock it after targets.
CREATE TABLE IF NOT EXISTS jobstats.locks (
    name text PRIMARY KEY
);
INSERT INTO jobstats.locks VALUES ('store'), ('entries'), ('jobs'), ('names') ON CONFLICT DO NOTHING;
INSERT INTO jobstats.locks
SELECT 'announcement ' || n FROM jobstats.refresh r, generate_series(r.settled, r.number) n ON CONFLICT DO NOTHING;

CREATE TABLE IF NOT EXISTS jobstats.sweep (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    after bigint,
    ended timestamptz,
    deleted bigint NOT NULL DEFAULT 0,
    -- When maintenance last forgot people whose work is old.
    people_forgotten timestamptz
);
INSERT INTO jobstats.sweep DEFAULT VALUES ON CONFLICT DO NOTHING;

CREATE TABLE IF NOT EXISTS jobstats.dirty (
    target_id integer NOT NULL,
    span_from timestamptz NOT NULL,
    span_to timestamptz NOT NULL,
    dirty_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    known boolean NOT NULL DEFAULT false
);

-- The UTC days of targets on which entries have got another job since the sums by user were computed.
CREATE TABLE IF NOT EXISTS jobstats.dirty_users (
    target_id integer NOT NULL,
    day timestamptz NOT NULL,
    PRIMARY KEY (target_id, day)
);

CREATE TABLE IF NOT EXISTS jobstats.coarse (
    span_from timestamptz NOT NULL,
    span_to timestamptz NOT NULL,
    width interval NOT NULL,
    PRIMARY KEY (span_from, span_to, width)
);

-- When targets were observed: a row for a span without a gap between observations. The last span of a target is open, until NULL, and ends
-- at its last observation, so that a feed that goes on writes nothing here.
CREATE TABLE IF NOT EXISTS jobstats.spans (
    target_id integer NOT NULL,
    since timestamptz NOT NULL,
    until timestamptz,
    PRIMARY KEY (target_id, since)
);

CREATE TABLE IF NOT EXISTS jobstats.maintenance (
    step text NOT NULL,
    began timestamptz NOT NULL,
    took interval,
    affected bigint,
    problem text
);
CREATE INDEX IF NOT EXISTS maintenance_began ON jobstats.maintenance (began);
CREATE INDEX IF NOT EXISTS maintenance_running ON jobstats.maintenance (step) WHERE took IS NULL;

CREATE TABLE IF NOT EXISTS jobstats.parts (
    relation text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    definition text NOT NULL,
    PRIMARY KEY (relation, kind, name)
);

-- What writers may feed. A cluster, server or target that is NULL is any.
CREATE TABLE IF NOT EXISTS jobstats.writers (
    role regrole NOT NULL,
    cluster text,
    server text,
    target text,
    sources text[] NOT NULL DEFAULT '{lctl}'
);
CREATE UNIQUE INDEX IF NOT EXISTS writers_once ON jobstats.writers (role, cluster, server, target) NULLS NOT DISTINCT;

CREATE TABLE IF NOT EXISTS jobstats.members (
    role regrole NOT NULL,
    uid bigint CHECK (uid BETWEEN 0 AND 4294967295),
    account text,
    CHECK (num_nonnulls(uid, account) = 1)
);
CREATE UNIQUE INDEX IF NOT EXISTS members_once ON jobstats.members (role, uid, account) NULLS NOT DISTINCT;

CREATE TABLE IF NOT EXISTS jobstats.managers (
    uid bigint NOT NULL,
    account text NOT NULL,
    PRIMARY KEY (uid, account)
);

CREATE TABLE IF NOT EXISTS jobstats.proxies (
    role regrole PRIMARY KEY
);

-- Readers who see everything, and not whose it is.
CREATE TABLE IF NOT EXISTS jobstats.pseudonym_readers (
    role regrole PRIMARY KEY
);

CREATE TABLE IF NOT EXISTS jobstats.raw (
    "time" timestamptz NOT NULL,
    target_id integer NOT NULL,
    server text NOT NULL,
    body bytea NOT NULL,
    carried bytea,
    PRIMARY KEY (target_id, "time")
) @partitioned@;

-- Raw text of events, which is kept for longer. Old rows are deleted.
CREATE TABLE IF NOT EXISTS jobstats.evidence (
    "time" timestamptz NOT NULL,
    target_id integer NOT NULL,
    server text NOT NULL,
    body bytea NOT NULL,
    carried bytea,
    PRIMARY KEY (target_id, "time")
);

CREATE TABLE IF NOT EXISTS jobstats.observations (
    "time" timestamptz NOT NULL,
    since timestamptz,
    target_id integer NOT NULL,
    server text NOT NULL,
    received timestamptz NOT NULL,
    duration interval,
    shipper text,
    cleanup_interval interval,
    entries integer NOT NULL,
    active integer NOT NULL,
    added integer NOT NULL,
    resets integer NOT NULL,
    removed integer NOT NULL,
    carried integer NOT NULL,
    unknown integer NOT NULL,
    problems integer NOT NULL,
    bytes bigint NOT NULL,
    digest bytea NOT NULL,
    -- The settings keep and fold_uids_below by which its increments are stored; NULL is everything, and nobody.
    kept text,
    folded_below bigint,
    PRIMARY KEY (target_id, "time")
) @partitioned@;

-- Where a target's history begins, or begins again.
CREATE INDEX IF NOT EXISTS observations_baseline ON jobstats.observations (target_id, "time") WHERE since IS NULL;
-- The view quality finds the hours that have observations in it. By the hour, because an index by time would be taken for
-- the last observations of a target, and read from its end to its start for a target that has none.
CREATE INDEX IF NOT EXISTS observations_hour ON jobstats.observations
    (date_bin(interval '1 hour', "time", timestamptz '1970-01-01 00:00:00.000001+00'));
CREATE INDEX IF NOT EXISTS observations_kept ON jobstats.observations ("time") WHERE kept IS NOT NULL;

-- The columns of fixed width come first and widest first, so that no row carries padding.
CREATE TABLE IF NOT EXISTS jobstats.increments (
    "time" timestamptz NOT NULL,
    since timestamptz NOT NULL,
    observed timestamptz NOT NULL,
    last_active timestamptz,
    entry_id bigint NOT NULL,
    target_id integer NOT NULL,
    reset boolean NOT NULL,
    @operation_columns@,
    sizes bytea,
    detail bytea
) @partitioned@;
-- Rows come in order of time: a block range index finds a window and costs an insert next to nothing, where a btree
-- would nearly double its price.
CREATE INDEX IF NOT EXISTS increments_time ON jobstats.increments USING brin ("time") WITH (pages_per_range = 32);

-- The own counters of targets, each reading as a record of job_stats without an identifier.
CREATE TABLE IF NOT EXISTS jobstats.target_snapshots (
    "time" timestamptz NOT NULL,
    since timestamptz,
    received timestamptz NOT NULL,
    target_id integer NOT NULL,
    server text NOT NULL,
    body bytea NOT NULL,
    digest bytea NOT NULL,
    PRIMARY KEY (target_id, "time")
) @partitioned@;

-- A row also where a target did nothing, so that the sum of observed_usecs says how long it was read.
CREATE TABLE IF NOT EXISTS jobstats.target_increments (
    "time" timestamptz NOT NULL,
    since timestamptz NOT NULL,
    observed timestamptz NOT NULL,
    observed_usecs bigint NOT NULL,
    target_id integer NOT NULL,
    exports integer NOT NULL,
    reset boolean NOT NULL,
    @operation_columns@,
    PRIMARY KEY (target_id, "time")
) @partitioned@;
CREATE INDEX IF NOT EXISTS target_increments_time ON jobstats.target_increments USING brin ("time") WITH (pages_per_range = 32);

-- What services of servers counted by themselves of requests that waited: JSON.
CREATE TABLE IF NOT EXISTS jobstats.server_snapshots (
    "time" timestamptz NOT NULL,
    since timestamptz,
    cluster text NOT NULL,
    server text NOT NULL,
    service text NOT NULL,
    sums jsonb NOT NULL,
    PRIMARY KEY (cluster, server, service, "time")
) @partitioned@;

-- A row also where a service did nothing: it was read then.
CREATE TABLE IF NOT EXISTS jobstats.server_increments (
    "time" timestamptz NOT NULL,
    since timestamptz NOT NULL,
    requests bigint NOT NULL,
    wait_usecs bigint NOT NULL,
    depth bigint NOT NULL,
    active bigint NOT NULL,
    cluster text NOT NULL,
    server text NOT NULL,
    service text NOT NULL,
    PRIMARY KEY (cluster, server, service, "time")
) @partitioned@;
CREATE INDEX IF NOT EXISTS server_increments_time ON jobstats.server_increments USING brin ("time") WITH (pages_per_range = 32);

-- The sums of services by hour, gauges and used space are so few rows that old ones are deleted: they need no partitions.
CREATE TABLE IF NOT EXISTS jobstats.server_hours (
    bucket timestamptz NOT NULL,
    observed_usecs bigint NOT NULL,
    requests bigint NOT NULL,
    wait_usecs bigint NOT NULL,
    depth bigint NOT NULL,
    active bigint NOT NULL,
    cluster text NOT NULL,
    server text NOT NULL,
    service text NOT NULL,
    PRIMARY KEY (cluster, server, service, bucket)
);
CREATE INDEX IF NOT EXISTS server_hours_bucket ON jobstats.server_hours USING brin (bucket) WITH (autosummarize = on);

-- Each feed changes the rows of its server. In pages with room for that, no index is written.
CREATE TABLE IF NOT EXISTS jobstats.sample_series (
    series_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cluster text NOT NULL,
    server text NOT NULL,
    target_id integer,
    name text NOT NULL,
    labels jsonb NOT NULL,
    since timestamptz NOT NULL,
    "time" timestamptz NOT NULL,
    value double precision,
    counter double precision,
    node text,
    -- A target has the same series on whichever server it is.
    UNIQUE (target_id, name, labels)
) WITH (fillfactor = 75);
CREATE UNIQUE INDEX IF NOT EXISTS sample_series_of_server ON jobstats.sample_series (cluster, server, name, labels) WHERE target_id IS NULL;
CREATE INDEX IF NOT EXISTS sample_series_server ON jobstats.sample_series (cluster, server);
CREATE INDEX IF NOT EXISTS sample_series_node ON jobstats.sample_series (node) WHERE node IS NOT NULL;

CREATE TABLE IF NOT EXISTS jobstats.samples_1h (
    series_id bigint NOT NULL,
    bucket timestamptz NOT NULL,
    min double precision NOT NULL,
    max double precision NOT NULL,
    sum double precision NOT NULL,
    last double precision NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (series_id, bucket)
) WITH (fillfactor = 90);
CREATE INDEX IF NOT EXISTS samples_1h_bucket ON jobstats.samples_1h USING brin (bucket) WITH (autosummarize = on);

CREATE TABLE IF NOT EXISTS jobstats.samples_1d (
    series_id bigint NOT NULL,
    bucket timestamptz NOT NULL,
    min double precision NOT NULL,
    max double precision NOT NULL,
    sum double precision NOT NULL,
    last double precision NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (series_id, bucket)
) WITH (fillfactor = 90);
CREATE INDEX IF NOT EXISTS samples_1d_bucket ON jobstats.samples_1d USING brin (bucket) WITH (autosummarize = on);

-- The readings of counters of joules, an hour in a row, which each reading makes longer.
CREATE TABLE IF NOT EXISTS jobstats.energy (
    series_id bigint NOT NULL,
    bucket timestamptz NOT NULL,
    times integer[] NOT NULL,
    joules real[] NOT NULL,
    PRIMARY KEY (series_id, bucket)
) WITH (fillfactor = 75);
CREATE INDEX IF NOT EXISTS energy_bucket ON jobstats.energy USING brin (bucket) WITH (autosummarize = on);

-- Which targets have said on which day who uses their space.
CREATE TABLE IF NOT EXISTS jobstats.used_lists (
    target_id integer NOT NULL,
    kind text NOT NULL CHECK (kind IN ('user', 'group', 'project')),
    day date NOT NULL,
    first timestamptz NOT NULL,
    last timestamptz NOT NULL,
    summed boolean NOT NULL DEFAULT false,
    PRIMARY KEY (target_id, kind, day)
);
CREATE INDEX IF NOT EXISTS used_lists_day ON jobstats.used_lists (day) WHERE NOT summed;

CREATE TABLE IF NOT EXISTS jobstats.used_now (
    target_id integer NOT NULL,
    kind text NOT NULL,
    id bigint NOT NULL,
    kbytes bigint NOT NULL,
    inodes bigint NOT NULL,
    PRIMARY KEY (target_id, kind, id)
) WITH (fillfactor = 75);

-- The first list of each target of a day, until it is summed.
CREATE TABLE IF NOT EXISTS jobstats.used_first (
    day date NOT NULL,
    target_id integer NOT NULL,
    kind text NOT NULL,
    id bigint NOT NULL,
    kbytes bigint NOT NULL,
    inodes bigint NOT NULL,
    PRIMARY KEY (day, target_id, kind, id)
);

CREATE TABLE IF NOT EXISTS jobstats.used (
    day date NOT NULL,
    cluster text NOT NULL,
    filesystem text NOT NULL,
    kind text NOT NULL,
    id bigint NOT NULL,
    kbytes numeric NOT NULL,
    inodes numeric,
    targets bigint NOT NULL,
    PRIMARY KEY (day, kind, cluster, filesystem, id)
);

-- The nodes of a front, that is of a store which shows the rows of others.
CREATE TABLE IF NOT EXISTS jobstats.attached (
    name text PRIMARY KEY,
    node integer NOT NULL UNIQUE,
    accounting boolean NOT NULL,
    left_out_since timestamptz,
    checked timestamptz,
    problem text,
    answered timestamptz,
    version text,
    targets bigint,
    last_observation timestamptz,
    refreshed timestamptz,
    known_targets jsonb
);
