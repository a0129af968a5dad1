-- Stores the settings that were given. A rollup whose retention is a hundred years or more is kept for ever (NULL).
WITH rollups AS (
    UPDATE jobstats.rollups l
    SET retention = CASE WHEN w.retention >= interval '100 years' THEN NULL ELSE coalesce(w.retention, l.retention) END
    FROM (VALUES ('10m', $7), ('1h', $8), ('1d', $9)) AS w (level, retention)
    WHERE w.level = l.level
)
UPDATE jobstats.settings
SET raw_retention = coalesce($1, raw_retention), retention = coalesce($2, retention),
    rejects_retention = coalesce($3, rejects_retention), chunk_interval = coalesce($4, chunk_interval),
    compress_after = coalesce($5, compress_after), refresh_lag = coalesce($6, refresh_lag),
    metrics = coalesce($10, metrics)
