-- The tables of observations, increments and samples.

CREATE TABLE IF NOT EXISTS jobstats.raw (
    "time" timestamptz NOT NULL,
    target_id integer NOT NULL,
    server text NOT NULL,
    body bytea NOT NULL,
    carried bytea,
    PRIMARY KEY (target_id, "time")
) @partitioned@;

-- Raw text of events, with a longer retention. Old rows are deleted.
CREATE TABLE IF NOT EXISTS jobstats.evidence (
    LIKE jobstats.raw,
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
    kept text,
    folded_below bigint,
    PRIMARY KEY (target_id, "time")
) @partitioned@;

-- Where a target's history begins, or begins again.
CREATE INDEX IF NOT EXISTS observations_baseline ON jobstats.observations (target_id, "time") WHERE since IS NULL;
-- The view quality finds hours with observations by it. By the hour, because the planner would use an index by time for the last
-- observation of a target, and read all of it for a target without any.
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
-- Rows come in order of time: a block range index finds a window and adds little to the cost of an insert, which a btree would
-- nearly double.
CREATE INDEX IF NOT EXISTS increments_time ON jobstats.increments USING brin ("time") WITH (pages_per_range = 32);

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

-- Idle targets have rows too, so that the sum of observed_usecs is the observed time.
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

CREATE TABLE IF NOT EXISTS jobstats.server_snapshots (
    "time" timestamptz NOT NULL,
    since timestamptz,
    cluster text NOT NULL,
    server text NOT NULL,
    service text NOT NULL,
    sums jsonb NOT NULL,
    PRIMARY KEY (cluster, server, service, "time")
) @partitioned@;

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

-- Sums of services by hour, gauges and used space have few rows: old ones are deleted, without partitions.
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
    LIKE jobstats.samples_1h,
    PRIMARY KEY (series_id, bucket)
) WITH (fillfactor = 90);
CREATE INDEX IF NOT EXISTS samples_1d_bucket ON jobstats.samples_1d USING brin (bucket) WITH (autosummarize = on);

CREATE TABLE IF NOT EXISTS jobstats.energy (
    series_id bigint NOT NULL,
    bucket timestamptz NOT NULL,
    times integer[] NOT NULL,
    joules real[] NOT NULL,
    PRIMARY KEY (series_id, bucket)
) WITH (fillfactor = 75);
CREATE INDEX IF NOT EXISTS energy_bucket ON jobstats.energy USING brin (bucket) WITH (autosummarize = on);

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

CREATE TABLE IF NOT EXISTS jobstats.used_first (
    day date NOT NULL,
    LIKE jobstats.used_now,
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
