-- Functions that answer questions about servers and targets.

CREATE FUNCTION jobstats_balance(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operation text DEFAULT 'write_bytes',
    filter jobstats_filter DEFAULT NULL, exclude jobstats_filter DEFAULT NULL
) RETURNS TABLE (
    target text, kind text, formatted text, ratio double precision, leader text, leader_share double precision, rate double precision,
    coverage double precision, labels jsonb
)
LANGUAGE c STABLE COST 10000 ROWS 100 AS 'MODULE_PATHNAME', 'jobstats_balance_wrapper';
COMMENT ON FUNCTION jobstats_balance IS
'Shows which targets are busier than others, and who uses them most. A row per target that reports the operation, also if it was idle; ratio is its rate to the median of its kind and file system. Errors: as jobstats_totals(), and 22023 for a filter by anything but targets.';

CREATE FUNCTION jobstats_changes(
    since timestamptz DEFAULT now() - interval '1 day', until timestamptz DEFAULT now(),
    operation text DEFAULT 'service_time', "by" text DEFAULT 'user',
    baseline_since timestamptz DEFAULT NULL, baseline_until timestamptz DEFAULT NULL, n integer DEFAULT 10,
    filter jobstats_filter DEFAULT NULL, exclude jobstats_filter DEFAULT NULL
) RETURNS TABLE (
    rank bigint, name text, formatted text, share double precision, share_of_rise double precision, operation text, before numeric,
    after numeric, change numeric, days bigint, coverage double precision, labels jsonb
)
LANGUAGE c STABLE COST 10000 ROWS 10 AS 'MODULE_PATHNAME', 'jobstats_changes_wrapper';
COMMENT ON FUNCTION jobstats_changes IS
'Shows who changed most, compared with the days before. Compares the window with the same window of the seven days before, or with a baseline scaled to its length. The n groups that changed most, and others together. Errors: as jobstats_totals(), and 22023 for a baseline with one end.';

CREATE FUNCTION jobstats_now(
    target text DEFAULT NULL, n integer DEFAULT 3, at timestamptz DEFAULT NULL, "by" text DEFAULT 'user,workload,account',
    filter jobstats_filter DEFAULT NULL, exclude jobstats_filter DEFAULT NULL
) RETURNS TABLE (
    target text, rank bigint, name text, operation text, formatted text, share double precision, service_time double precision,
    rate double precision, age interval, labels jsonb
)
LANGUAGE c STABLE COST 10000 ROWS 100
SET search_path = pg_catalog, pg_temp SET jit = off AS 'MODULE_PATHNAME', 'jobstats_now_wrapper';
COMMENT ON FUNCTION jobstats_now IS
'Shows who keeps each target busy, now or at a past time. Of its last observation, the n groups with most service time or, where servers report no times, most calls. Errors: 22023 for unknown names or a negative n, 55000 without a store.';

CREATE FUNCTION jobstats_queues(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    step interval DEFAULT NULL, filter jobstats_filter DEFAULT NULL, exclude jobstats_filter DEFAULT NULL
) RETURNS TABLE (
    "time" timestamptz, server text, service text, requests numeric, wait double precision, waiting double precision,
    depth double precision, labels jsonb
)
LANGUAGE c STABLE COST 10000 ROWS 100 AS 'MODULE_PATHNAME', 'jobstats_queues_wrapper';
COMMENT ON FUNCTION jobstats_queues IS
'Shows how long requests were queued for a thread of a server. Per service: the number of requests, the mean wait in seconds, the mean number of waiting requests, and how many were found waiting. Keys of filters are server and cluster. Errors: 22023, 54000 and 55000 as jobstats_rates().';

CREATE FUNCTION jobstats_untracked(
    since timestamptz DEFAULT now() - interval '1 day', until timestamptz DEFAULT now(),
    operations text DEFAULT NULL, "by" text DEFAULT 'target', step interval DEFAULT NULL,
    filter jobstats_filter DEFAULT NULL, exclude jobstats_filter DEFAULT NULL
) RETURNS TABLE (
    "time" timestamptz, name text, operation text, formatted text, share double precision, total numeric, accounted numeric,
    untracked numeric, coverage double precision, labels jsonb
)
LANGUAGE c STABLE COST 10000 ROWS 100 AS 'MODULE_PATHNAME', 'jobstats_untracked_wrapper';
COMMENT ON FUNCTION jobstats_untracked IS
'Shows the I/O of targets that is in no entry of job_stats. It is the increase of the target counters less the usage of the entries. by and filters are dimensions of targets. Errors: as jobstats_totals(), and 22023 for other dimensions.';

CREATE FUNCTION jobstats_space(
    at timestamptz DEFAULT NULL, "by" text DEFAULT 'user', since timestamptz DEFAULT NULL, n integer DEFAULT NULL,
    filter jobstats_filter DEFAULT NULL, exclude jobstats_filter DEFAULT NULL
) RETURNS TABLE (
    name text, formatted text, bytes numeric, inodes numeric, added_bytes numeric, added_inodes numeric, targets bigint, of_targets bigint,
    "time" timestamptz, labels jsonb
)
LANGUAGE c STABLE COST 10000 ROWS 100 AS 'MODULE_PATHNAME', 'jobstats_space_wrapper';
COMMENT ON FUNCTION jobstats_space IS
'Shows who uses the space of a file system. By user, group, project or account, now or on a day; added_bytes since another day. targets: those in a sum (of of_targets); time: its oldest list. A filter can name a project. Errors: 22023 for an unknown by, or a target in the past, 55000 without a store.';
