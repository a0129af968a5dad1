-- The tables of the store itself and its targets; store/comments has the meanings of all tables and columns. jobstats_setup() creates the
-- schema first; every statement may run again.

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
    -- With a higher limit a sum could overflow its column.
    max_rate bigint NOT NULL DEFAULT 1099511627776 CHECK (max_rate BETWEEN 1 AND 1099511627776),
    feed_wait interval NOT NULL DEFAULT '10 seconds' CHECK (feed_wait BETWEEN '100 milliseconds' AND '1 hour'),
    max_targets integer NOT NULL DEFAULT 1000 CHECK (max_targets > 0),
    max_answer bigint NOT NULL DEFAULT 536870912 CHECK (max_answer BETWEEN 1048576 AND 1099511627776),
    keep text NOT NULL DEFAULT 'everything' CHECK (keep IN ('everything', 'no detail', 'counts')),
    jobs_retention interval NOT NULL DEFAULT '2 years' CHECK (jobs_retention > '0'),
    zone text NOT NULL DEFAULT 'UTC',
    system_uids_below bigint NOT NULL DEFAULT 1000 CHECK (system_uids_below >= 0),
    fold_uids_below bigint NOT NULL DEFAULT 0 CHECK (fold_uids_below BETWEEN 0 AND 4294967295),
    metrics text[] NOT NULL DEFAULT '{}',
    personal_retention interval NOT NULL DEFAULT '13 months' CHECK (personal_retention > '0'),
    alerts_per_week double precision NOT NULL DEFAULT 2 CHECK (alerts_per_week BETWEEN 0 AND 1000000),
    events_retention interval NOT NULL DEFAULT '2 years' CHECK (events_retention > '0'),
    evidence_retention interval NOT NULL DEFAULT '30 days' CHECK (evidence_retention >= '0'),
    node integer NOT NULL DEFAULT 0 CHECK (node BETWEEN 0 AND 32766),
    front boolean NOT NULL DEFAULT false,
    leave_out_nodes boolean NOT NULL DEFAULT true,
    node_timeout interval NOT NULL DEFAULT '2 minutes' CHECK (node_timeout BETWEEN '1 second' AND '1 hour'),
    -- Text without its observation would prevent feeding it again.
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
    observations_total bigint NOT NULL DEFAULT 0,
    text_bytes_total bigint NOT NULL DEFAULT 0,
    problems_total bigint NOT NULL DEFAULT 0,
    retired timestamptz,
    last_observation timestamptz,
    server text,
    received timestamptz,
    UNIQUE (cluster, name)
);

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
    clusters text[],
    claimed text
);
CREATE INDEX IF NOT EXISTS entries_job ON jobstats.entries (job text_pattern_ops);
CREATE INDEX IF NOT EXISTS entries_uid ON jobstats.entries (uid);
-- Entries whose user is known only by their job.
CREATE INDEX IF NOT EXISTS entries_without_uid ON jobstats.entries (entry_id) WHERE uid IS NULL AND job IS NOT NULL;
CREATE INDEX IF NOT EXISTS entries_claimed ON jobstats.entries (claimed text_pattern_ops) WHERE claimed IS NOT NULL;

CREATE TABLE IF NOT EXISTS jobstats.secrets (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    keys bytea NOT NULL DEFAULT uuid_send(gen_random_uuid()) CHECK (octet_length(keys) = 16),
    mask bigint NOT NULL DEFAULT 0,
    pseudonyms bytea NOT NULL DEFAULT uuid_send(gen_random_uuid()) CHECK (octet_length(pseudonyms) = 16)
);
INSERT INTO jobstats.secrets DEFAULT VALUES ON CONFLICT DO NOTHING;

CREATE TABLE IF NOT EXISTS jobstats.forgotten (
    uid bigint PRIMARY KEY,
    user_names text[] NOT NULL DEFAULT '{}',
    gids bigint[] NOT NULL DEFAULT '{}',
    until timestamptz NOT NULL
);

CREATE TABLE IF NOT EXISTS jobstats.entry_formats (
    priority integer PRIMARY KEY,
    format text NOT NULL,
    node_label text,
    cluster text,
    node_pattern text
);

CREATE TABLE IF NOT EXISTS jobstats.identification (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    formats jsonb,
    under_way jsonb,
    after bigint,
    again boolean NOT NULL DEFAULT false
);
INSERT INTO jobstats.identification DEFAULT VALUES ON CONFLICT DO NOTHING;

CREATE TABLE IF NOT EXISTS jobstats.to_identify (
    entry_id bigint NOT NULL
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
    matched timestamptz NOT NULL DEFAULT 'epoch',
    clock timestamptz NOT NULL DEFAULT now()
);
INSERT INTO jobstats.refresh DEFAULT VALUES ON CONFLICT DO NOTHING;

-- Rows for locks: of setup, steps of maintenance and conversions; of feeds that know an announcement of a refresh; of
-- feeds that have found their entries; of feeds of jobs, which add a row for each cluster; of feeds of names, which feeds of jobs
-- may lock too, after theirs; and of feeds of server counters, which add a row for each server and lock it after targets.
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

-- When targets were observed: a row for a span without a gap between observations. The last span of a target is open (until NULL) and
-- ends at its last observation, so that a continuous feed does not write here.
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

CREATE TABLE IF NOT EXISTS jobstats.pseudonym_readers (
    role regrole PRIMARY KEY
);

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
