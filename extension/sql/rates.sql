-- Functions that answer questions about usage.

-- PostgreSQL inlines this function into the calling statement, so that conditions on entries limit the rows read, and unused
-- columns are not computed. A SET clause would prevent that.
CREATE FUNCTION jobstats_internal.entries(at timestamptz DEFAULT NULL) RETURNS TABLE (
    entry_id bigint, entry text, status text, workload text, job text, uid bigint, user_name text, gid bigint, group_name text,
    account text, partition text, job_name text, state text, job_group text, node text, executable text, pid bigint
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
SELECT entry.entry_id, entry.name, entry.status, entry.workload, entry.job,
    coalesce(entry.uid, job.uid),
    coalesce(person.user_name, CASE WHEN entry.uid IS NULL THEN job.user_name END),
    coalesce(person.gid, CASE WHEN entry.uid IS NULL THEN job.gid END),
    -- The group name of the job does not apply to another group of the user.
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
COMMENT ON FUNCTION jobstats_internal.entries IS
'Internal: used by jobstats-console and exports. The entries with their jobs, users and groups as of a time; NULL is now.';

-- The last observation of each target at a time. PostgreSQL inlines this function, as entries().
CREATE FUNCTION jobstats_targets(
    at timestamptz DEFAULT NULL, filter jobstats_filter DEFAULT NULL, exclude jobstats_filter DEFAULT NULL
) RETURNS TABLE (
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
            -- at - interval '24 hours' is not known when this is planned: it could be days, which a zone makes longer.
            AND o."time" > (at AT TIME ZONE text 'UTC' - interval '24 hours') AT TIME ZONE text 'UTC' AND o."time" <= at
        ORDER BY o."time" DESC LIMIT 1
    )
) last ON true
CROSS JOIN LATERAL (
    SELECT pg_catalog.jsonb_build_object(text 'cluster', known.cluster, text 'filesystem', known.filesystem, text 'kind', known.kind,
        text 'target', known.name, text 'server', last.server) AS labels
) group_of
WHERE (filter IS NULL OR jobstats_internal.filter_matches(filter, group_of.labels, false))
    AND (exclude IS NULL OR NOT jobstats_internal.filter_matches(exclude, group_of.labels, true))
$$;
COMMENT ON FUNCTION jobstats_targets IS
'Shows the targets with their last observation, now or at a past time. It is from the day before that time; columns before and after have the observations around that time. Join by target_id to filter tables. Errors: 22023 for an unknown key, 42P01 without a store.';

CREATE FUNCTION jobstats_internal.kept(level text DEFAULT 'increments', cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL) RETURNS TABLE (
    now timestamptz, since timestamptz, first timestamptz, complete timestamptz, targets bigint
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
#variable_conflict use_column
<<own>>
DECLARE
    level text := coalesce(kept.level, text 'increments');
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
            MESSAGE = format('level "%s" does not exist', left(own.level, 60)),
            HINT = 'Levels are increments, 10m, 1h and 1d.';
    END IF;
    RETURN QUERY
    WITH known AS MATERIALIZED (
        SELECT target.target_id, target.cluster, target.name
        FROM jobstats.targets target
        WHERE (kept.cluster IS NULL OR target.cluster LIKE ANY (jobstats_internal.as_like(kept.cluster)))
            AND (kept.filesystem IS NULL OR target.filesystem LIKE ANY (jobstats_internal.as_like(kept.filesystem)))
    )
    SELECT now(), own.since, min(least(observation.first, span.first)),
        (
            SELECT min(health.last_observation)
            FROM jobstats.health
            JOIN known ON known.cluster = health.cluster AND known.name = health.target
            WHERE NOT health.states && '{silent,retired}'::text[]
        ),
        count(*)
    FROM known
    LEFT JOIN jobstats.observation_ends observation ON observation.target_id = known.target_id
    LEFT JOIN LATERAL (
        SELECT min(s.since) AS first FROM jobstats.spans s WHERE s.target_id = known.target_id AND own.level <> 'increments'
    ) span ON true;
END
$$;
COMMENT ON FUNCTION jobstats_internal.kept IS
'Internal: used by jobstats-console and exports. The time range stored at a level (increments, 10m, 1h, 1d) of these clusters and file systems.';

CREATE FUNCTION jobstats_format(value double precision, operation text, quantity text DEFAULT 'rate') RETURNS text
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_format_wrapper';
COMMENT ON FUNCTION jobstats_format IS
'Formats a number with its unit, as in 104 MB/s. quantity: the column of the number, rate, total or per_call. Three digits, decimal prefixes (kB is 1000 bytes), times in a fitting unit (23 ms). The rate of service_time has no unit. NULL if an argument is. Errors: 22023 unknown operation or quantity.';

CREATE FUNCTION jobstats_metrics() RETURNS text
LANGUAGE c STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'MODULE_PATHNAME', 'jobstats_metrics_wrapper';
COMMENT ON FUNCTION jobstats_metrics IS
'Returns health and rates of all targets for Prometheus. OpenMetrics text without users and jobs: state, rates and space of targets, queues of servers, events, lag of rollups and maintenance. Silent and retired targets have no rates. Call it at every scrape. Errors: 55000 no store.';

CREATE FUNCTION jobstats_rates(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operations text DEFAULT NULL, "by" text DEFAULT 'target', step interval DEFAULT NULL,
    filter jobstats_filter DEFAULT NULL, exclude jobstats_filter DEFAULT NULL, weights jsonb DEFAULT NULL
) RETURNS TABLE (
    "time" timestamptz, name text, operation text, formatted text, rate double precision, total numeric, calls numeric,
    per_call double precision, seconds double precision, coverage double precision, labels jsonb
)
LANGUAGE c STABLE COST 10000 ROWS 100 AS 'MODULE_PATHNAME', 'jobstats_rates_wrapper';
COMMENT ON FUNCTION jobstats_rates IS
'Shows usage per second over time, by user, job or target. A row per step, group and operation in (since, until]; the rate of service_time is requests in service. Targets also have idle steps. Errors: 22023 for unknown names or an empty window, 54000 for over a million rows, 55000 without a store.';

CREATE FUNCTION jobstats_internal.share(
    value bigint, row_since timestamptz, row_time timestamptz, since timestamptz, until timestamptz
) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_share_wrapper';
COMMENT ON FUNCTION jobstats_internal.share IS
'Internal: the share of a value in a window, as a difference of cumulative floors: adjacent shares add up to the value.';

CREATE FUNCTION jobstats_summary(
    since timestamptz DEFAULT now() - interval '1 day', until timestamptz DEFAULT now(),
    "by" text DEFAULT 'job',
    filter jobstats_filter DEFAULT NULL, exclude jobstats_filter DEFAULT NULL
) RETURNS TABLE (
    name text, nodes bigint, read_bytes numeric, write_bytes numeric, metadata numeric, service_time numeric, busiest_target text,
    opens numeric, read numeric, write numeric, first timestamptz, last_active timestamptz, coverage double precision, labels jsonb
)
LANGUAGE c STABLE COST 10000 ROWS 100 AS 'MODULE_PATHNAME', 'jobstats_summary_wrapper';
COMMENT ON FUNCTION jobstats_summary IS
'Shows each job or user in one wide row. Totals in (since, until] are exact; first and last_active are when it was seen; busiest_target spent most time on it. Errors: as jobstats_totals().';

CREATE FUNCTION jobstats_top(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operation text DEFAULT NULL, "by" text DEFAULT 'user,workload', n integer DEFAULT 10, min_rate double precision DEFAULT NULL,
    filter jobstats_filter DEFAULT NULL, exclude jobstats_filter DEFAULT NULL, weights jsonb DEFAULT NULL, untracked boolean DEFAULT false
) RETURNS TABLE (
    rank bigint, name text, operation text, formatted text, share double precision, total numeric, rate double precision, calls numeric,
    per_call double precision, share_of_target double precision, coverage double precision, labels jsonb
)
LANGUAGE c STABLE COST 10000 ROWS 10 AS 'MODULE_PATHNAME', 'jobstats_top_wrapper';
COMMENT ON FUNCTION jobstats_top IS
'Ranks users, jobs or targets by an operation. By default service_time, or metadata and bytes where servers report no times. share is of all groups under the same filters, share_of_target of the total of the targets. Errors: as jobstats_totals(), and 22023 for a negative n.';

CREATE FUNCTION jobstats_totals(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operations text DEFAULT NULL, "by" text DEFAULT 'target',
    filter jobstats_filter DEFAULT NULL, exclude jobstats_filter DEFAULT NULL, weights jsonb DEFAULT NULL
) RETURNS TABLE (
    name text, operation text, formatted text, share double precision, total numeric, rate double precision, calls numeric,
    per_call double precision, coverage double precision, labels jsonb
)
LANGUAGE c STABLE COST 10000 ROWS 100 AS 'MODULE_PATHNAME', 'jobstats_totals_wrapper';
COMMENT ON FUNCTION jobstats_totals IS
'Shows usage in a window, exactly, by user, job or target. A row per group and operation; totals of adjacent windows (since, until] add up; share is of all groups. Errors: 22023 for unknown names or an empty window, 54000 for over a million rows, 55000 without a store.';

CREATE FUNCTION jobstats_baseline(
    since timestamptz DEFAULT now() - interval '1 hour', until timestamptz DEFAULT now(),
    operation text DEFAULT 'service_time', "by" text DEFAULT 'user', n integer DEFAULT 10,
    filter jobstats_filter DEFAULT NULL, exclude jobstats_filter DEFAULT NULL
) RETURNS TABLE (
    rank bigint, name text, operation text, formatted text, times_usual double precision, percentile double precision,
    median double precision, lower_quartile double precision, upper_quartile double precision, rate double precision, days bigint,
    coverage double precision, labels jsonb
)
LANGUAGE c STABLE COST 10000 ROWS 10 AS 'MODULE_PATHNAME', 'jobstats_baseline_wrapper';
COMMENT ON FUNCTION jobstats_baseline IS
'Compares users or targets with their own baseline. The baseline is the same window, of at most a day, on each observed day of the 30 before. The n groups most above their median. Errors: as jobstats_totals(), and 22023 for a window of over a day.';
