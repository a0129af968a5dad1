-- When entries were active: at most $4 buckets that lie in the span.
SELECT DISTINCT e.entry_id, (extract(epoch FROM r.bucket) * 1000000)::bigint - 1 AS since
FROM unnest($1::bigint[]) e (entry_id)
JOIN jobstats.rollup_10m r ON r.entry_id = e.entry_id AND r.bucket > $2 AND r.bucket <= $3 - interval '10 minutes' + interval '1 microsecond'
ORDER BY 1, 2
LIMIT $4
