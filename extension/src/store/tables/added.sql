-- What came to tables of the store after the version that made them first. Run by jobstats_setup() after store.sql, on a
-- new store as on one that another version made, so that both are the same.

-- 0.2.0
ALTER TABLE jobstats.settings
    ADD COLUMN IF NOT EXISTS refresh_lag interval NOT NULL DEFAULT '20 minutes' CHECK (refresh_lag >= '0'),
    ADD COLUMN IF NOT EXISTS chunk_interval interval NOT NULL DEFAULT '1 day' CHECK (chunk_interval >= '1 hour'),
    ADD COLUMN IF NOT EXISTS compress_after interval NOT NULL DEFAULT '7 days' CHECK (compress_after >= '0'),
    -- A higher limit could let a sum pass what a column can hold.
    ADD COLUMN IF NOT EXISTS max_rate bigint NOT NULL DEFAULT 1099511627776 CHECK (max_rate BETWEEN 1 AND 1099511627776);
-- What feeds have counted since the target was first observed, or since this version. Retention takes nothing of it back.
ALTER TABLE jobstats.targets
    ADD COLUMN IF NOT EXISTS observations_total bigint NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS text_bytes_total bigint NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS problems_total bigint NOT NULL DEFAULT 0;
ALTER TABLE jobstats.dirty ADD COLUMN IF NOT EXISTS dirty_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY;
ALTER TABLE jobstats.dirty
    ADD COLUMN IF NOT EXISTS known boolean NOT NULL DEFAULT false,
    ADD COLUMN IF NOT EXISTS problem text;
ALTER TABLE jobstats.settings
    ADD COLUMN IF NOT EXISTS feed_wait interval NOT NULL DEFAULT '10 seconds' CHECK (feed_wait BETWEEN '100 milliseconds' AND '1 hour'),
    ADD COLUMN IF NOT EXISTS max_targets integer NOT NULL DEFAULT 1000 CHECK (max_targets > 0);
-- Maintenance failed with a longer retention, and feeds with a longer max_ahead; this is for ever too.
UPDATE jobstats.settings s
SET raw_retention = least(s.raw_retention, '1000 years'), retention = least(s.retention, '1000 years'),
    rejects_retention = least(s.rejects_retention, '1000 years'), max_ahead = least(s.max_ahead, '1000 years')
WHERE greatest(s.raw_retention, s.retention, s.rejects_retention, s.max_ahead) > '1000 years';
-- Up to when feeds stored values that a sum may not hold: on a store that another version made; never on a new one.
ALTER TABLE jobstats.settings ADD COLUMN IF NOT EXISTS limited_since timestamptz NOT NULL DEFAULT now();
ALTER TABLE jobstats.settings ALTER COLUMN limited_since SET DEFAULT '-infinity';
-- The view quality finds the hours that have observations in it. By the hour, because an index by time would be taken for
-- the last observations of a target, and read from its end to its start for a target that has none.
CREATE INDEX IF NOT EXISTS observations_hour ON jobstats.observations
    (date_bin(interval '1 hour', "time", timestamptz '1970-01-01 00:00:00.000001+00'));

-- Writers are bound to servers and targets too; NULL is any. Until then a role could feed all that no row said anything of:
-- such roles get a row. Once they are bound, none gets back what was taken from it.
DO $writers$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = 'jobstats.writers'::regclass AND a.attname = 'server') THEN
        ALTER TABLE jobstats.writers DROP CONSTRAINT writers_pkey;
        ALTER TABLE jobstats.writers ALTER COLUMN cluster DROP NOT NULL, ADD COLUMN server text, ADD COLUMN target text;
        CREATE UNIQUE INDEX writers_once ON jobstats.writers (role, cluster, server, target) NULLS NOT DISTINCT;
        INSERT INTO jobstats.writers (role)
        SELECT DISTINCT g.grantee
        FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) g
        WHERE c.oid = to_regclass('jobstats.feed') AND g.privilege_type = 'INSERT' AND g.grantee NOT IN (0, c.relowner)
            -- Neither it nor any of its members is bound by another role.
            AND NOT EXISTS (
                SELECT FROM pg_roles m JOIN jobstats.writers w ON pg_has_role(m.oid, w.role, 'USAGE')
                WHERE pg_has_role(m.oid, g.grantee, 'USAGE') AND NOT pg_has_role(m.oid, c.relowner, 'USAGE'));
    END IF;
END
$writers$;

-- Writers are bound to sources too. What there was wrote the output of lctl.
ALTER TABLE jobstats.writers ADD COLUMN IF NOT EXISTS sources text[] NOT NULL DEFAULT '{lctl}';

-- Views on the column go on to show it.
DO $users$
BEGIN
    IF EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = 'jobstats.users'::regclass AND a.attname = 'name') THEN
        ALTER TABLE jobstats.users RENAME COLUMN name TO user_name;
    END IF;
END
$users$;

ALTER TABLE jobstats.targets ADD COLUMN IF NOT EXISTS retired timestamptz;

-- What feeds store of increments, and what they stored of those of an observation; NULL is everything.
ALTER TABLE jobstats.settings
    ADD COLUMN IF NOT EXISTS keep text NOT NULL DEFAULT 'everything' CHECK (keep IN ('everything', 'no detail', 'counts'));
ALTER TABLE jobstats.observations ADD COLUMN IF NOT EXISTS kept text;
CREATE INDEX IF NOT EXISTS observations_kept ON jobstats.observations ("time") WHERE kept IS NOT NULL;

-- Up to when the newest bucket of a target's rates is known. The last observations are searched for once.
DO $last_observation$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = 'jobstats.targets'::regclass AND a.attname = 'last_observation') THEN
        ALTER TABLE jobstats.targets ADD COLUMN last_observation timestamptz;
        UPDATE jobstats.targets t
        SET last_observation = (SELECT o."time" FROM jobstats.observations o WHERE o.target_id = t.target_id ORDER BY o."time" DESC LIMIT 1);
    END IF;
END
$last_observation$;

-- How long a job is kept after its end, and the zone of times that were printed without one.
ALTER TABLE jobstats.settings
    ADD COLUMN IF NOT EXISTS jobs_retention interval NOT NULL DEFAULT '2 years' CHECK (jobs_retention > '0'),
    ADD COLUMN IF NOT EXISTS zone text NOT NULL DEFAULT 'UTC';

-- The user's primary group, since when the user has the name, when a text last said so, and who said it.
ALTER TABLE jobstats.users
    ADD COLUMN IF NOT EXISTS gid bigint,
    ADD COLUMN IF NOT EXISTS since timestamptz NOT NULL DEFAULT '-infinity',
    ADD COLUMN IF NOT EXISTS seen timestamptz NOT NULL DEFAULT '-infinity',
    ADD COLUMN IF NOT EXISTS source text NOT NULL DEFAULT 'getent' CHECK (source IN ('getent', 'accounting'));

CREATE INDEX IF NOT EXISTS users_user_name ON jobstats.users (user_name);

-- Users below this number belong to the system: what they do for a job counts for it, but under their own number.
ALTER TABLE jobstats.settings
    ADD COLUMN IF NOT EXISTS system_uids_below bigint NOT NULL DEFAULT 1000 CHECK (system_uids_below >= 0);
-- Users below this number belong to the system, and feeds add up what their entries did; 0 is nobody. NULL of an observation too.
ALTER TABLE jobstats.settings
    ADD COLUMN IF NOT EXISTS fold_uids_below bigint NOT NULL DEFAULT 0 CHECK (fold_uids_below BETWEEN 0 AND 4294967295);
ALTER TABLE jobstats.observations ADD COLUMN IF NOT EXISTS folded_below bigint;
-- Patterns of the names of metrics that are kept of texts of the source openmetrics.
ALTER TABLE jobstats.settings ADD COLUMN IF NOT EXISTS metrics text[] NOT NULL DEFAULT '{}';
-- Up to when entries that were active are matched with jobs.
ALTER TABLE jobstats.refresh
    ADD COLUMN IF NOT EXISTS matched timestamptz NOT NULL DEFAULT 'epoch',
    ADD COLUMN IF NOT EXISTS clock timestamptz NOT NULL DEFAULT now();
-- Whether there are entries whose job alone says who the user is.
CREATE INDEX IF NOT EXISTS entries_without_uid ON jobstats.entries (entry_id) WHERE uid IS NULL AND job IS NOT NULL;

-- A format may be that of some clusters and nodes.
ALTER TABLE jobstats.entry_formats
    ADD COLUMN IF NOT EXISTS cluster text,
    ADD COLUMN IF NOT EXISTS node_pattern text;
-- The clusters that have sent an entry; NULL: unknown, since no format depends on it.
ALTER TABLE jobstats.entries ADD COLUMN IF NOT EXISTS clusters text[];

-- How long the store says who did something. A store that another version made says it for ever, as it did.
ALTER TABLE jobstats.settings ADD COLUMN IF NOT EXISTS personal_retention interval NOT NULL DEFAULT '1000 years' CHECK (personal_retention > '0');
ALTER TABLE jobstats.settings ALTER COLUMN personal_retention SET DEFAULT '13 months';
-- When maintenance last forgot people whose work is old.
ALTER TABLE jobstats.sweep ADD COLUMN IF NOT EXISTS people_forgotten timestamptz;

-- How many events of a file system are told in a week at most, how long events are kept, and how much longer their raw text is.
ALTER TABLE jobstats.settings
    ADD COLUMN IF NOT EXISTS alerts_per_week double precision NOT NULL DEFAULT 2 CHECK (alerts_per_week BETWEEN 0 AND 1000000),
    ADD COLUMN IF NOT EXISTS events_retention interval NOT NULL DEFAULT '2 years' CHECK (events_retention > '0'),
    ADD COLUMN IF NOT EXISTS evidence_retention interval NOT NULL DEFAULT '30 days' CHECK (evidence_retention >= '0');

-- The number of the store among the nodes of a front; whether it is a front itself, answers without nodes that do not answer, and how long it waits for them.
ALTER TABLE jobstats.settings
    ADD COLUMN IF NOT EXISTS node integer NOT NULL DEFAULT 0 CHECK (node BETWEEN 0 AND 32766),
    ADD COLUMN IF NOT EXISTS front boolean NOT NULL DEFAULT false,
    ADD COLUMN IF NOT EXISTS leave_out_nodes boolean NOT NULL DEFAULT true,
    ADD COLUMN IF NOT EXISTS node_timeout interval NOT NULL DEFAULT '2 minutes' CHECK (node_timeout BETWEEN '1 second' AND '1 hour');

-- The number of another user's job that an identifier names. The entry has no job, as long as accounting says so.
ALTER TABLE jobstats.entries ADD COLUMN IF NOT EXISTS claimed text;
CREATE INDEX IF NOT EXISTS entries_claimed ON jobstats.entries (claimed text_pattern_ops) WHERE claimed IS NOT NULL;
