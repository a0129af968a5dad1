-- What each target did between two readings in ($1, $2]. Rows are cut at edges of ten minutes, and are summed by their reading.
SELECT part.target_id, min(part.since) AS since, max(part."time") AS "time", coalesce(sum(@calls@), 0)::bigint AS calls,
    coalesce(sum(part.read), 0)::bigint AS reads, coalesce(sum(part.read_usecs), 0)::bigint AS read_usecs,
    coalesce(sum(part.read_bytes), 0)::bigint AS read_bytes, coalesce(sum(part.write), 0)::bigint AS writes,
    coalesce(sum(part.write_usecs), 0)::bigint AS write_usecs, coalesce(sum(part.write_bytes), 0)::bigint AS write_bytes
FROM jobstats.target_increments part
WHERE part."time" > $1 AND part."time" <= $2
GROUP BY part.target_id, part.observed
ORDER BY part.target_id, part.observed
