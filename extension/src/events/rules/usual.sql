-- Computes the baselines of an operation ($3) of the largest subjects ($4) on a day ($1), by a rule ($2): the medians of the largest
-- of each hour of the 30 days before, for file systems known for a week. A row without a file system marks the day as computed.
INSERT INTO jobstats.baseline_largest (day, operation, "by", cluster, filesystem, rate)
SELECT ($1 AT TIME ZONE 'UTC')::date, $3, $4, hour.cluster, hour.filesystem, percentile_cont(double precision '0.5') WITHIN GROUP (ORDER BY hour.rate)
FROM generate_series($1 - interval '720 hours', $1 - interval '24 hours', interval '24 hours') AS day (since)
CROSS JOIN LATERAL jobstats_internal.largest_subjects($2, $3, $4, day.since, day.since + interval '24 hours', interval '1 hour') hour
WHERE NOT EXISTS (
    SELECT FROM jobstats.baseline_largest known WHERE known.day = ($1 AT TIME ZONE 'UTC')::date AND known.operation = $3 AND known."by" = $4)
GROUP BY hour.cluster, hour.filesystem
HAVING count(DISTINCT day.since) >= 7
UNION ALL
SELECT ($1 AT TIME ZONE 'UTC')::date, $3, $4, '', '', 0
ON CONFLICT DO NOTHING
