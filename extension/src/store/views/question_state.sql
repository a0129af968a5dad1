-- The state that a query needs before it reads rows, in one value: a front queries each node once. Times are microseconds since
-- 1970; infinite ones are the first and the last bigint, or null.
CREATE OR REPLACE VIEW jobstats.question_state AS
SELECT json_build_object(
    text 'has_refresh', EXISTS (SELECT FROM jobstats.refresh),
    text 'kept_since', (SELECT @kept@ FROM jobstats.refresh r),
    text 'has_unnamed', EXISTS (SELECT FROM jobstats.entries e WHERE e.uid IS NULL AND e.job IS NOT NULL),
    text 'has_divided', EXISTS (SELECT FROM jobstats.entry_jobs j WHERE NOT j.alone),
    -- The sums of days are kept for ever.
    text 'has_target_counters', EXISTS (SELECT FROM jobstats.rollup_1d_targets),
    text 'renamed', ARRAY(SELECT DISTINCT @renamed@ FROM jobstats.earlier_users e),
    text 'group_renamed', (SELECT @group_renamed@ FROM jobstats.earlier_groups e),
    text 'rollups', ARRAY(SELECT json_build_array(l.level, @dropped@, @refreshed@, @users_refreshed@) FROM jobstats.rollup_states l),
    text 'coarse', ARRAY(
        SELECT json_build_array(json_build_array(@coarse_since@, @coarse_until@), (extract(epoch FROM c.width) * 1000000)::bigint) FROM jobstats.coarse c),
    -- A day of late text makes thousands of rows.
    text 'dirty', ARRAY(
        SELECT json_build_array(@dirty_since@, @dirty_until@)
        FROM (SELECT unnest(range_agg(tstzrange(d.span_from, d.span_to))) AS span FROM jobstats.dirty d) d),
    text 'changed_days', ARRAY(SELECT DISTINCT @day@ FROM jobstats.dirty_users d),
    text 'targets', ARRAY(
        SELECT json_build_array(t.target_id, t.cluster, t.filesystem, t.kind, t.name, @retired@) FROM jobstats.targets t),
    text 'spans', ARRAY(SELECT json_build_array(s.target_id, json_build_array(@since@, @until@)) FROM jobstats.observed_spans s)
)::text AS state
