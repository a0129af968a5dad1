-- Functions that answer questions about servers and targets.

CREATE FUNCTION jobstats_balance(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operation text DEFAULT 'write_bytes',
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, target text[] DEFAULT NULL
) RETURNS TABLE (
    cluster text, filesystem text, kind text, target text, rate double precision, ratio double precision,
    workload text, uid bigint, user_name text, account text, share double precision, coverage double precision
)
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'jobstats_balance_wrapper';
COMMENT ON FUNCTION jobstats_balance IS
'Shows which targets are busier than others, and who uses them most. In (since, until], with a row for each target that the filters select, of the kinds that report the operation unless kind names others, also where nothing was done (0) or nothing was observed (NULL). ratio is that to the median of the observed targets of the same cluster, file system and kind, NULL where that is 0. workload, uid, user_name and account name who did most of it there, and share is their part. The targets that are farthest above their median come first. An argument that is NULL counts as left out. Errors: 22023 for an unknown operation or an empty window, 54000 for over a million rows, 55000 where there is no store.';

CREATE FUNCTION jobstats_changes(
    since timestamptz DEFAULT now() - interval '1 day', until timestamptz DEFAULT now(),
    operation text DEFAULT 'service_time', "by" text[] DEFAULT '{uid,user_name}',
    baseline_since timestamptz DEFAULT NULL, baseline_until timestamptz DEFAULT NULL, n integer DEFAULT 10,
    @filters@,
    exclude jsonb DEFAULT NULL
) RETURNS TABLE (
    rank bigint,
    @dimensions@,
    operation text, before numeric, after numeric, change numeric, share double precision, share_of_rise double precision,
    groups bigint, days bigint, coverage double precision
)
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'jobstats_changes_wrapper';
COMMENT ON FUNCTION jobstats_changes IS
'Shows who made the difference between a window and what was before it. The window is (since, until]. before is the mean of the same window, in local time, on each of the seven days before of which at least 0.8 was observed (days is their number), or the total of (baseline_since, baseline_until], scaled to the length of the window if that is another one; both rounded to calls, bytes or microseconds. after is the total in the window, change = after - before. Returns the n groups that changed most, of equal ones the first by their dimensions as texts, and a row without rank for the rest; groups is the number of groups in the row. All rows add up to the change of the whole. share is the part of that, NULL where it is under 5 % of what all groups changed, rises and falls together; share_of_rise is the part of all rises. coverage is the part of the window that was observed. Times are in seconds. A dimension not named in by is NULL. exclude leaves out what matches any of its lists. An argument that is NULL counts as left out. Errors: 22023 for an unknown operation or dimension, an empty window, one end of a baseline without the other and a negative n, 54000 for over a million groups, 55000 where there is no store.';

CREATE FUNCTION jobstats_now(target text[] DEFAULT NULL, n integer DEFAULT 10, at timestamptz DEFAULT NULL) RETURNS TABLE (
    cluster text, target text, kind text, server text, "time" timestamptz, age interval, seconds double precision,
    rank bigint, workload text, uid bigint, user_name text, account text, job_name text, operation text, rate double precision,
    service_time double precision, share double precision
)
LANGUAGE c STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'MODULE_PATHNAME', 'jobstats_now_wrapper';
COMMENT ON FUNCTION jobstats_now(text[], integer, timestamptz) IS
'Shows who keeps each target busy right now, or kept it busy at a time. Per target whose name matches one of the patterns (NULL: all that were observed within a day) the n workloads and users with the largest share of its last observation, of its service time or, where servers report no times, of its calls. With at, the observation is the last one up to that time, as far as increments are kept. time is that of the observation, age how long before now, or before at, that was, seconds what it covers: where that is more than an hour, its last hour counts; operation is the one that took most of it (where no times are reported: with most calls), rate its calls per second, service_time the mean number of requests in service. n NULL is 10. Errors: 22023 for a negative n, 55000 where there is no store.';

CREATE FUNCTION jobstats_queues(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    server text[] DEFAULT NULL, service text[] DEFAULT NULL, step interval DEFAULT NULL, cluster text[] DEFAULT NULL
) RETURNS TABLE (
    "time" timestamptz, seconds double precision, cluster text, server text, service text, requests numeric,
    wait double precision, depth double precision, active double precision, waiting double precision, coverage double precision
)
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'jobstats_queues_wrapper';
COMMENT ON FUNCTION jobstats_queues IS
'Shows how long requests waited for a thread of a server. In (since, until], or in steps of it, with a row for each service of a server that was read then. requests is their number, wait the seconds that one waited on the average before a thread took it; times in job_stats begin only then. depth and active are the numbers of requests in the queue and at work that a request found when it came, waiting is the mean number that waited at a time. wait, depth and active are NULL where there was no request. coverage is the part of the time in which the service was read, to which requests belong. Services are server-wide, not of a target. server, service and cluster are patterns with *. Parts of rows at edges are as jobstats_share() has them; where increments are not kept any more, parts of hours. An argument that is NULL counts as left out. Errors: 22023 for an empty window, a step that is not positive, 54000 for over a million rows or 100,000 steps, 55000 where there is no store.';

CREATE FUNCTION jobstats_unaccounted(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operations text[] DEFAULT NULL, "by" text[] DEFAULT '{target}',
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, target text[] DEFAULT NULL,
    step interval DEFAULT NULL
) RETURNS TABLE (
    "time" timestamptz, seconds double precision, cluster text, filesystem text, kind text, target text, operation text,
    total numeric, accounted numeric, unaccounted numeric, beyond numeric, share double precision, coverage double precision
)
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'jobstats_unaccounted_wrapper';
COMMENT ON FUNCTION jobstats_unaccounted IS
'Shows the work of targets that is in no entry of job_stats. In (since, until], or in steps of it, with a row for each group of targets and each operation of which anything was done. total is what the targets'' own counters say (md_stats and stats), without what metadata servers did on OSTs where their exports are fed; accounted is the sum of all entries. unaccounted is what is missing from that, and beyond what entries did more than the target counted, both added up target by target: total = accounted + unaccounted - beyond. Both are NULL where the own counters of a target were read for less than 98 % of the time in which its entries were observed. share is the part of the total that is unaccounted, coverage the part of the window in which the own counters were read. Times are in seconds. by names dimensions of targets. An argument that is NULL counts as left out. Errors: 22023 for an unknown operation or dimension, one of entries or servers, and an empty window, 54000 for over a million rows or too many steps, 55000 where there is no store.';
