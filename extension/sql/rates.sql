-- Functions that answer who did what, and when.

-- PostgreSQL puts a call of this function into the statement that calls it, so that conditions on entries choose what is read, and
-- what nobody asks for is not computed. A clause SET would prevent that.
CREATE FUNCTION jobstats_entries(at timestamptz DEFAULT NULL) RETURNS TABLE (
    entry_id bigint, entry text, status text, workload text, job text, uid bigint, user_name text, gid bigint, group_name text,
    account text, partition text, job_name text, state text, job_group text, node text, executable text, pid bigint
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
SELECT entry.entry_id, entry.name, entry.status, entry.workload, entry.job,
    coalesce(entry.uid, job.uid),
    coalesce(person.user_name, CASE WHEN entry.uid IS NULL THEN job.user_name END),
    coalesce(person.gid, CASE WHEN entry.uid IS NULL THEN job.gid END),
    -- The name that the job has for its group says nothing of another group of the user.
    coalesce(team.group_name, CASE WHEN entry.uid IS NULL AND coalesce(person.gid, job.gid) IS NOT DISTINCT FROM job.gid
        THEN job.group_name END),
    job.account, job.partition, job.job_name, job.state, coalesce(job.job_group, entry.job), entry.node, entry.executable, entry.pid
FROM jobstats.entries entry
LEFT JOIN jobstats.entry_jobs entry_job ON entry_job.entry_id = entry.entry_id
    AND entry_job.valid_from < coalesce(at, now()) AND entry_job.valid_to >= coalesce(at, now())
LEFT JOIN jobstats.job_ids job ON job.job_no = entry_job.job_no
LEFT JOIN jobstats_internal.user_names(coalesce(at, now()) - interval '1 microsecond', coalesce(at, now())) person
    ON person.uid = coalesce(entry.uid, job.uid)
LEFT JOIN jobstats_internal.group_names(coalesce(at, now())) team
    ON team.gid = coalesce(person.gid, CASE WHEN entry.uid IS NULL THEN job.gid END)
$$;
COMMENT ON FUNCTION jobstats_entries(timestamptz) IS
'Shows whose work each entry counts at a time, as far as it is known. One row per entry: what its identifier says, the job that it belongs to on that day of UTC, and the names that the user and the group had at the start of that day; NULL where nobody knows. at NULL is now. All other reading functions name users and jobs by the same rules. Ask for some entries only, by a join or a condition on entry_id: a store has millions of them. Errors: 42P01 where there is no store.';

-- The last observation of each target at a time. PostgreSQL puts a call of this function into the statement that calls it, so that what
-- nobody asks for is not computed, and conditions choose the targets that are looked at. A clause SET would prevent that.
CREATE FUNCTION jobstats_targets(at timestamptz DEFAULT NULL) RETURNS TABLE (
    target_id integer, cluster text, filesystem text, kind text, target text, server text, since timestamptz, "time" timestamptz,
    usual_interval interval, entries integer, problems integer, added integer, resets integer, removed integer,
    before timestamptz, after timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
SELECT known.target_id, known.cluster, known.filesystem, known.kind, known.name, last.server,
    CASE WHEN last.since IS NOT NULL THEN greatest(last.since, last."time" - interval '1 hour') END, last."time",
    CASE WHEN at IS NULL THEN newest.usual_interval ELSE (
        SELECT percentile_disc(0.5::double precision) WITHIN GROUP (ORDER BY recent."time" - recent.since)
        FROM (
            SELECT o."time", o.since FROM jobstats.observations o
            WHERE o.target_id = known.target_id AND o."time" > last."time" - interval '1 day' AND o."time" <= last."time"
            ORDER BY o."time" DESC LIMIT 10
        ) recent
    ) END,
    last.entries, last.problems, last.added, last.resets, last.removed,
    CASE WHEN at IS NULL THEN newest.before ELSE (
        SELECT o."time" FROM jobstats.observations o
        WHERE o.target_id = known.target_id AND o."time" <= at
        ORDER BY o."time" DESC LIMIT 1
    ) END,
    CASE WHEN at IS NULL THEN newest.after ELSE (
        SELECT o."time" FROM jobstats.observations o
        WHERE o.target_id = known.target_id AND o."time" > at
        ORDER BY o."time" LIMIT 1
    ) END
FROM (
    -- TimescaleDB knows no later times than these.
    SELECT CASE WHEN at > timestamptz '294246-01-01 00:00Z' THEN timestamptz '294246-01-01 00:00Z' ELSE at END AS at
) asked
CROSS JOIN jobstats.targets known
LEFT JOIN jobstats.last_observations newest ON newest.target_id = known.target_id AND at IS NULL
LEFT JOIN LATERAL (
    SELECT newest.server, newest.since, newest."time", newest.entries, newest.problems, newest.added, newest.resets, newest.removed WHERE at IS NULL
    UNION ALL
    (
        SELECT o.server, o.since, o."time", o.entries, o.problems, o.added, o.resets, o.removed FROM jobstats.observations o
        WHERE o.target_id = known.target_id AND (known.retired IS NULL OR at <= known.retired)
            AND o."time" > at - interval '24 hours' AND o."time" <= at
        ORDER BY o."time" DESC LIMIT 1
    )
) last ON true
$$;
COMMENT ON FUNCTION jobstats_targets(timestamptz) IS
'Lists the targets with their last observation, now or at a time. One row per target that was ever observed. time is that of the last observation up to at (NULL: now) and, with all that comes from it, NULL if the target had not been observed for a day or was retired before. since is the time of the observation before, or an hour before time if that is later; NULL for a first observation, with which nothing can be compared. usual_interval is the median of the last ten intervals between observations. before is the last observation up to at, however long ago that was, and after the first one later; NULL where the store has none. Errors: 42P01 where there is no store.';

CREATE FUNCTION jobstats_kept(level text DEFAULT 'increments', cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL) RETURNS TABLE (
    now timestamptz, since timestamptz, first timestamptz, complete timestamptz, targets bigint
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
#variable_conflict use_column
<<own>>
DECLARE
    level text := coalesce(jobstats_kept.level, text 'increments');
    since timestamptz;
BEGIN
    PERFORM jobstats_internal.require_store();
    PERFORM jobstats_internal.require_bound(text 'the pattern', pattern) FROM unnest(cluster || filesystem) pattern;
    own.since := (
        SELECT refresh.dropped FROM jobstats.refresh WHERE own.level = 'increments'
        UNION ALL
        SELECT rollup.dropped FROM jobstats.rollups rollup WHERE rollup.level = own.level);
    IF own.since IS NULL THEN
        RAISE invalid_parameter_value USING
            MESSAGE = format('there is no level "%s"', left(own.level, 60)),
            HINT = 'Levels are increments, 10m, 1h and 1d.';
    END IF;
    RETURN QUERY
    WITH known AS MATERIALIZED (
        SELECT target.target_id, target.cluster, target.name
        FROM jobstats.targets target
        WHERE (jobstats_kept.cluster IS NULL OR target.cluster LIKE ANY (jobstats_internal.as_like(jobstats_kept.cluster)))
            AND (jobstats_kept.filesystem IS NULL OR target.filesystem LIKE ANY (jobstats_internal.as_like(jobstats_kept.filesystem)))
    )
    SELECT now(), own.since, min(least(observation.first, span.first)),
        (
            SELECT min(health.last_observation)
            FROM jobstats.health
            JOIN known ON known.cluster = health.cluster AND known.name = health.target
            WHERE health.status NOT IN ('silent', 'retired')
        ),
        count(*)
    FROM known
    LEFT JOIN jobstats.observation_ends observation ON observation.target_id = known.target_id
    LEFT JOIN LATERAL (
        SELECT s.since AS first FROM jobstats.observed s
        WHERE s.target_id = known.target_id AND own.level <> 'increments' ORDER BY s.until LIMIT 1
    ) span ON true;
END
$$;
COMMENT ON FUNCTION jobstats_kept(text, text[], text[]) IS
'Says of which time the store keeps increments, or a rollup. level is increments, 10m, 1h or 1d. now is the time of the store. Older rows than since are not kept; first is the first observation, NULL if there is none. Up to complete all targets have been observed that still report; NULL if none does. targets is the number of targets. cluster and filesystem are patterns with *; NULL: all. Errors: 22023 for an unknown level, 22001 for one of over 255 bytes, 55000 where there is no store.';

CREATE FUNCTION jobstats_format(value double precision, operation text, quantity text DEFAULT 'rate') RETURNS text
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_format_wrapper';
COMMENT ON FUNCTION jobstats_format(double precision, text, text) IS
'Prints a number of an answer with its unit, as in 104 MB/s. quantity is the column that the number is from: rate, total or per_call. Three digits, decimal prefixes as storage is sold with (kB is 1000 bytes), times in the unit that suits them (23 ms, 90 min). A rate of service_time is the number of requests in service and has no unit. NULL where an argument is NULL. Errors: 22023 for an unknown operation or quantity.';

CREATE FUNCTION jobstats_metrics() RETURNS text
LANGUAGE c STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'MODULE_PATHNAME', 'jobstats_metrics_wrapper';
COMMENT ON FUNCTION jobstats_metrics() IS
'Prints health and rates of the targets for Prometheus. The text is OpenMetrics, without jobs. For each target it has the health as in jobstats.health, counts of observations and problems, and the rates of the last observation as in jobstats_now(), and the space and state that servers said within the last hour; for services of servers, how long requests waited; the number of events that last; for the store, the time of the last maintenance and the lag of the rollups. While a node of a front does not answer and is not left out, it has how the nodes are, and nothing else. There are no rates for a target that is silent or whose last observation covers more than an hour. Retired targets are left out; what jobstats.expected lists and has never reported has a status alone, with its server. Errors: 55000 where there is no store.';

CREATE FUNCTION jobstats_rates(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operations text[] DEFAULT NULL, "by" text[] DEFAULT '{target}', step interval DEFAULT NULL,
    @filters@,
    weights jsonb DEFAULT NULL, exclude jsonb DEFAULT NULL
) RETURNS TABLE (
    "time" timestamptz, seconds double precision,
    @dimensions@,
    operation text, rate double precision, coverage double precision
)
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'jobstats_rates_wrapper';
COMMENT ON FUNCTION jobstats_rates IS
'Shows usage per second over time, by user, job or target. One row per step and group in (since, until], or for the window where step is NULL. Steps lie on multiples of step on the clocks of the session; time is where one really begins, seconds its width. A rate is the sum over targets of total / seconds that the target was observed; coverage is the observed part of all time, 0 to 1. The rate of service_time is called requests in service. A dimension not named in by is NULL. Where by names only cluster, filesystem, kind, target or server, targets that did nothing give 0, and NULL if they were not observed. exclude leaves out what matches any of its lists. An argument that is NULL counts as left out. Errors: 22023 for unknown operations and dimensions and for windows and steps that are empty, for steps that mix months with days, 54000 for over a million rows or 100,000 steps, or a million steps of all targets together, 55000 where there is no store.';

CREATE FUNCTION jobstats_share(
    value bigint, row_since timestamptz, row_time timestamptz, since timestamptz, until timestamptz
) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_share_wrapper';
COMMENT ON FUNCTION jobstats_share(bigint, timestamptz, timestamptz, timestamptz, timestamptz) IS
'Returns the part of a value that lies in a window. The value counted in (row_since, row_time] is divided at the edges of (since, until], as if it had happened evenly: a difference of cumulative floors, so that adjacent parts add up to the value.';

CREATE FUNCTION jobstats_summary(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    "by" text[] DEFAULT '{job}',
    @filters@,
    exclude jsonb DEFAULT NULL
) RETURNS TABLE (
    @dimensions@,
    first timestamptz, last_active timestamptz, nodes bigint, read_bytes numeric, write_bytes numeric, read numeric,
    write numeric, opens numeric, metadata numeric, service_time numeric, busiest_target text
)
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'jobstats_summary_wrapper';
COMMENT ON FUNCTION jobstats_summary IS
'Sums up what each job or user did, in one wide row. Per group in (since, until]: from when to when, on how many nodes, bytes and calls read and written, files opened, calls of metadata, seconds that servers spent on it, and the target that spent most on it (where servers report no times, the one with most calls). Totals are exact. A dimension not named in by is NULL. Where by names only cluster, filesystem, kind, target or server, targets that did nothing have a row too. exclude leaves out what matches any of its lists. An argument that is NULL counts as left out. Errors: 22023 for an unknown dimension or an empty window, 54000 for over a million rows, 55000 where there is no store.';

CREATE FUNCTION jobstats_top(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operation text DEFAULT NULL, "by" text[] DEFAULT '{uid,workload}', n integer DEFAULT 10,
    min_rate double precision DEFAULT NULL,
    @filters@,
    weights jsonb DEFAULT NULL, exclude jsonb DEFAULT NULL, unaccounted boolean DEFAULT false
) RETURNS TABLE (
    rank bigint,
    @dimensions@,
    operation text, total numeric, rate double precision, share double precision, share_of_target double precision,
    calls numeric, per_call double precision, coverage double precision
)
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'jobstats_top_wrapper';
COMMENT ON FUNCTION jobstats_top IS
'Ranks the users, jobs or targets that did most of an operation. Returns the n groups with the largest total in (since, until], of equal ones the first by their dimensions. Without operation that is service_time or, where no target in scope reports times (Lustre before 2.14), first metadata of MDTs and then bytes of OSTs, each with ranks and shares of its own. The rate of service_time is called requests in service. share is the part of the total of all groups under the same filters; groups with a rate under min_rate are left out. share_of_target is the part of all that the targets did, by their own counters; NULL where these were read for less than 98 % of the time in which the entries of a target were observed, and where by or a filter is about servers. unaccounted adds a row without rank for the work that is in no entry, with its part of all as share_of_target, unless a filter is about entries. calls is the number of calls; total and per_call of times are in seconds, other per_call are bytes per call; per_call is NULL under ten calls. A dimension not named in by is NULL. exclude leaves out what matches any of its lists. An argument that is NULL counts as left out. Errors: 22023 for an unknown operation or dimension, an empty window or a negative n, 54000 for over a million rows, 55000 where there is no store.';

CREATE FUNCTION jobstats_totals(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operations text[] DEFAULT NULL, "by" text[] DEFAULT '{target}',
    @filters@,
    exclude jsonb DEFAULT NULL
) RETURNS TABLE (
    @dimensions@,
    operation text, total numeric, calls numeric, per_call double precision, coverage double precision
)
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'jobstats_totals_wrapper';
COMMENT ON FUNCTION jobstats_totals IS
'Shows usage in a window, exactly, by user, job or target. One row per group; totals of adjacent windows (since, until] add up. calls is the number of calls; total and per_call of times are in seconds, other per_call are bytes per call; per_call is NULL under ten calls. A dimension not named in by is NULL. Where by names only cluster, filesystem, kind, target or server, targets that did nothing give 0, and NULL if they were not observed. exclude leaves out what matches any of its lists. An argument that is NULL counts as left out. Errors: 22023 for unknown operations and dimensions and for empty windows, 54000 for over a million rows, 55000 where there is no store.';

CREATE FUNCTION jobstats_used(
    at timestamptz DEFAULT NULL, "by" text[] DEFAULT '{user}', since timestamptz DEFAULT NULL,
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, target text[] DEFAULT NULL,
    uid bigint[] DEFAULT NULL, user_name text[] DEFAULT NULL, gid bigint[] DEFAULT NULL, group_name text[] DEFAULT NULL,
    project bigint[] DEFAULT NULL, account text[] DEFAULT NULL
) RETURNS TABLE (
    cluster text, filesystem text, target text, uid bigint, user_name text, gid bigint, group_name text, project bigint,
    account text, bytes numeric, inodes numeric, added_bytes numeric, added_inodes numeric, targets bigint, of_targets bigint,
    "time" timestamptz
)
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'jobstats_used_wrapper';
COMMENT ON FUNCTION jobstats_used IS
'Shows whose files fill a file system. As Lustre accounts for it on each target (quota_slave.acct_user, …), with a row for each user, group, project or account of a file system, those with most bytes first. at NULL is now: the newest list of each target; any other time is its day of UTC: what each target said first on it, or on the last day of the week before that is known. by is user, group, project, account or nothing of these, and target, which is kept of now alone. The account of a user is that of the job that began last of those that ran at that time, or else of the one that ended last. inodes are those of MDTs: NULL where none was read. added_bytes and added_inodes compare with the day of since in the same way, and rows are in their order; NULL where that day is not known. targets says how many of the of_targets targets of the file system are in a sum, time of when the oldest list in it is; a NOTICE tells of missing ones. The other arguments are patterns with *, or numbers. An argument that is NULL counts as left out. Errors: 22023 for an unknown by, or a target in the past, 54000 for over a million rows, 55000 where there is no store.';

CREATE FUNCTION jobstats_usual(
    since timestamptz DEFAULT now() - interval '1 hour', until timestamptz DEFAULT now(),
    operation text DEFAULT 'service_time', "by" text[] DEFAULT '{uid,user_name}', n integer DEFAULT 10,
    @filters@,
    exclude jsonb DEFAULT NULL
) RETURNS TABLE (
    rank bigint,
    @dimensions@,
    operation text, rate double precision, lower_quartile double precision, median double precision, upper_quartile double precision,
    mean double precision, times_usual double precision, times_mean double precision, percentile double precision, days bigint,
    coverage double precision
)
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'jobstats_usual_wrapper';
COMMENT ON FUNCTION jobstats_usual IS
'Compares what users or targets do with what is usual for them. Groups can be users, accounts, targets or file systems. The window is (since, until], of at most a day. What a group does in it is compared with what it did in the same window, in local time, on each of the 30 days before of which at least 0.8 was observed (days is their number); a day on which it did nothing counts as 0. rate, the quartiles and the mean are per second that the targets of the group were observed, as in jobstats_rates(): requests in service for times. times_usual is rate / median and times_mean rate / mean, NULL where that is 0; percentile is the part of the days with less, those with as much counted half. Returns the n groups that are most above their median, of those that did anything in the window. coverage is the part of the time of all targets in the group that was observed. A dimension not named in by is NULL. exclude leaves out what matches any of its lists. An argument that is NULL counts as left out. Errors: 22023 for an unknown operation or dimension, an empty window or one of over a day and a negative n, 54000 for over a million groups, 55000 where there is no store.';
