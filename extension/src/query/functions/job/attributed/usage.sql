SELECT 1 AS step, usage.target_id, usage.entry_id, greatest(usage.first, span.since) AS first, least(usage.last, span.until) AS last@values@
FROM unnest(@entries@::bigint[], @since@::timestamptz[], @until@::timestamptz[]) span (entry_id, since, until)
JOIN jobstats.rollup_10m usage ON usage.entry_id = span.entry_id AND usage.bucket > span.since AND usage.bucket <= span.until
