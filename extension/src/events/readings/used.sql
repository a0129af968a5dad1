-- The used share of the space and of the inodes of targets, by the hour, from a day before $1 on, to show their growth. A value is
-- the last one of an hour, or the newest, and has the time of the start of the hour, so that it is stable during the hour.
SELECT gauge.target_id, gauge.bucket - interval '1 microsecond',
    gauge.used_space / nullif(gauge.used_space + gauge.available, 0) AS space, gauge.used_inodes / nullif(gauge.inodes, 0) AS inodes
FROM (
    SELECT series.target_id, hour.bucket,
        max(hour.last) FILTER (WHERE series.name = 'kbytestotal') - max(hour.last) FILTER (WHERE series.name = 'kbytesfree') AS used_space,
        max(hour.last) FILTER (WHERE series.name = 'kbytesavail') AS available,
        max(hour.last) FILTER (WHERE series.name = 'filestotal') - max(hour.last) FILTER (WHERE series.name = 'filesfree') AS used_inodes,
        max(hour.last) FILTER (WHERE series.name = 'filestotal') AS inodes
    FROM jobstats.sample_series series
    CROSS JOIN LATERAL (
        SELECT h.bucket, h.last FROM jobstats.samples_1h h
        WHERE h.series_id = series.series_id AND h.bucket > $1 - interval '24 hours' AND h.bucket <= $2) hour
    WHERE series.target_id IS NOT NULL AND series.labels = jsonb '{}'
        AND series.name IN ('kbytestotal', 'kbytesfree', 'kbytesavail', 'filestotal', 'filesfree')
    GROUP BY series.target_id, hour.bucket
) gauge
ORDER BY gauge.target_id, gauge.bucket
