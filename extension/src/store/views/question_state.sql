-- What a question must know before it reads rows, in one row: a front asks each node once. Times are microseconds since 1970; NULL is infinite.
CREATE OR REPLACE VIEW jobstats.question_state AS
SELECT EXISTS (SELECT FROM jobstats.refresh) AS has_refresh, (SELECT @kept@ FROM jobstats.refresh r) AS kept_since,
    EXISTS (SELECT FROM jobstats.entries e WHERE e.uid IS NULL AND e.job IS NOT NULL) AS has_unnamed,
    EXISTS (SELECT FROM jobstats.entry_jobs j WHERE NOT j.alone) AS has_divided,
    -- The sums of days are kept for ever.
    EXISTS (SELECT FROM jobstats.rollup_1d_targets) AS has_wholes,
    (SELECT array_agg(DISTINCT @renamed@) FROM jobstats.earlier_users e) AS renamed, (SELECT @group_renamed@ FROM jobstats.earlier_groups e) AS group_renamed,
    rollup.levels, rollup.dropped, rollup.refreshed, rollup.users_refreshed,
    coarse.since AS coarse_since, coarse.until AS coarse_until, coarse.width AS coarse_width,
    dirty.since AS dirty_since, dirty.until AS dirty_until, changed.days AS changed_days,
    target.ids, target.clusters, target.filesystems, target.kinds, target.names, target.retired,
    span.targets AS span_targets, span.since AS span_since, span.until AS span_until
FROM (
    SELECT array_agg(l.level) AS levels, array_agg(@dropped@) AS dropped,
        array_agg(@refreshed@) AS refreshed, array_agg(@users_refreshed@) AS users_refreshed
    FROM jobstats.rollup_states l
) rollup
CROSS JOIN (
    SELECT array_agg(@coarse_since@) AS since, array_agg(@coarse_until@) AS until,
        array_agg((extract(epoch FROM c.width) * 1000000)::bigint) AS width
    FROM jobstats.coarse c
) coarse
CROSS JOIN (
    -- A day of late text makes thousands of rows.
    SELECT array_agg(@dirty_since@) AS since, array_agg(@dirty_until@) AS until
    FROM (SELECT unnest(range_agg(tstzrange(d.span_from, d.span_to))) AS span FROM jobstats.dirty d) d
) dirty
CROSS JOIN (
    SELECT array_agg(DISTINCT @day@) AS days FROM jobstats.dirty_users d
) changed
CROSS JOIN (
    SELECT array_agg(t.target_id::bigint) AS ids, array_agg(t.cluster) AS clusters, array_agg(t.filesystem) AS filesystems, array_agg(t.kind) AS kinds,
        array_agg(t.name) AS names, array_agg(@retired@) AS retired
    FROM jobstats.targets t
) target
CROSS JOIN (
    SELECT array_agg(s.target_id::bigint) AS targets, array_agg(@since@) AS since, array_agg(@until@) AS until
    FROM jobstats.observed_spans s
) span
