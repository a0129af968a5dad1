-- The tables of events.

-- The baselines of a service of a server, of calls of a class to a target, of its probes, and of the largest subject of a file system,
-- on a UTC day, from the 30 days before it. A day is computed once, so that judging it again gives the same result.
CREATE TABLE IF NOT EXISTS jobstats.baseline_waits (
    cluster text NOT NULL,
    server text NOT NULL,
    service text NOT NULL,
    day date NOT NULL,
    wait double precision NOT NULL,
    PRIMARY KEY (day, cluster, server, service)
);

CREATE TABLE IF NOT EXISTS jobstats.baseline_calls (
    target_id integer NOT NULL,
    class integer NOT NULL,
    day date NOT NULL,
    seconds_per_call double precision NOT NULL,
    PRIMARY KEY (day, target_id, class)
);

CREATE TABLE IF NOT EXISTS jobstats.baseline_probes (
    target_id integer NOT NULL,
    day date NOT NULL,
    seconds double precision NOT NULL,
    PRIMARY KEY (day, target_id)
);

CREATE TABLE IF NOT EXISTS jobstats.baseline_largest (
    day date NOT NULL,
    operation text NOT NULL,
    "by" text NOT NULL,
    cluster text NOT NULL,
    filesystem text NOT NULL,
    rate double precision NOT NULL,
    PRIMARY KEY (day, operation, "by", cluster, filesystem)
);

CREATE TABLE IF NOT EXISTS jobstats.rules (
    name text PRIMARY KEY CHECK (name <> ''),
    operation text NOT NULL,
    "by" text NOT NULL DEFAULT 'user' CHECK ("by" IN ('user', 'account', 'job')),
    times_usual double precision CHECK (times_usual > 0),
    threshold double precision CHECK (threshold > 0),
    lasting interval NOT NULL DEFAULT '30 minutes' CHECK (lasting BETWEEN '10 minutes' AND '1 hour'),
    url text,
    enabled boolean NOT NULL DEFAULT false,
    CHECK (num_nonnulls(times_usual, threshold) = 1)
);
INSERT INTO jobstats.rules (name, operation, "by", times_usual)
VALUES ('many metadata calls', 'metadata', 'user', 10), ('many bytes', 'bytes', 'user', 10)
ON CONFLICT DO NOTHING;

CREATE TABLE IF NOT EXISTS jobstats.windows (
    window_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cluster text,
    filesystem text,
    since timestamptz NOT NULL,
    until timestamptz NOT NULL CHECK (until > since),
    reason text
);

CREATE TABLE IF NOT EXISTS jobstats.watch (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    watched_until timestamptz,
    rejudge_from timestamptz,
    ran timestamptz
);
INSERT INTO jobstats.watch DEFAULT VALUES ON CONFLICT DO NOTHING;

CREATE TABLE IF NOT EXISTS jobstats.events (
    event_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL CHECK (kind IN ('waiting', 'slow_target', 'stalled', 'full', 'failover', 'rule')),
    cluster text NOT NULL,
    filesystem text NOT NULL,
    began timestamptz NOT NULL,
    found timestamptz NOT NULL,
    confirmed timestamptz,
    until timestamptz NOT NULL,
    ended timestamptz,
    updated timestamptz NOT NULL,
    withdrawn timestamptz,
    severity text NOT NULL CHECK (severity IN ('info', 'warning', 'critical')),
    targets text[] NOT NULL,
    servers text[] NOT NULL,
    value double precision,
    usual double precision,
    rate double precision NOT NULL,
    reason text,
    details jsonb NOT NULL,
    culprits jsonb,
    load_times double precision,
    verdict text CHECK (verdict IN ('real', 'false', 'known')),
    note text,
    notified timestamptz,
    UNIQUE (kind, cluster, filesystem, began)
);
CREATE INDEX IF NOT EXISTS events_until ON jobstats.events (until);
CREATE INDEX IF NOT EXISTS events_open ON jobstats.events (began) WHERE ended IS NULL;
