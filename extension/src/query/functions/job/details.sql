-- The increments of entries in spans, those of each entry on each target in order of time. OFFSET 0 keeps the search of each
-- span by itself.
SELECT usage.target_id, usage.entry_id, usage.observed, @timed@ AS timed, usage.detail::text AS detail,
    brief.kept IS NOT NULL AS is_brief@values@
FROM @span@
CROSS JOIN LATERAL (
    SELECT *
    FROM jobstats.increments usage
    WHERE @in_span@ AND usage.entry_id = ANY (@entries@)
        AND usage."time" > @since@ AND usage."time" <= @until@
    OFFSET 0
) usage
LEFT JOIN jobstats.observations brief ON brief.target_id = usage.target_id AND brief."time" = usage.observed AND brief."time" > @since@
    AND brief.kept IS NOT NULL
ORDER BY usage.target_id, usage.entry_id, usage.observed
