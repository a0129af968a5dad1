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
