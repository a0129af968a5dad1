-- When these entries were active, by the number of the UTC day, according to rollups. A piece of a row may lie after all activity.
SELECT a.entry_id, (extract(epoch FROM least(min(a.first), max(a.last))) * 1000000)::bigint AS first, (extract(epoch FROM max(a.last)) * 1000000)::bigint AS last,
    (extract(epoch FROM date_bin(interval '1 day', min(a.bucket) - interval '1 microsecond', timestamptz 'epoch')) / 86400)::bigint AS day
FROM (
    SELECT r.entry_id, r.bucket, r.first, r.last FROM jobstats.rollup_1d r
    WHERE r.entry_id = ANY ($1) AND r.bucket > $2 AND r.bucket <= $3
    UNION ALL
    SELECT r.entry_id, r.bucket, r.first, r.last FROM jobstats.rollup_10m r
    WHERE r.entry_id = ANY ($1) AND r.bucket > greatest($2, $3)
) a
GROUP BY a.entry_id, date_bin(interval '1 day', a.bucket - interval '1 microsecond', timestamptz 'epoch')
ORDER BY a.entry_id, min(a.bucket)
