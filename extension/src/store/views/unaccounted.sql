-- File systems in which more than a fifth of the requests of the last hour that is summed up had no identifier, by targets whose own
-- counters were read for all of it. Of OSTs only reads and writes count: metadata servers do all else there for themselves, too. Of MDTs
-- those requests that each file causes are enough: to plan a sum over all operations of all partitions takes much memory.
SELECT t.cluster, t.filesystem, span.until, sum(w.calls)::bigint AS calls,
    round(100 * sum(greatest(w.calls - coalesce(e.calls, 0), 0)) / nullif(sum(w.calls), 0)) AS percent
FROM (SELECT l.refreshed AS until FROM jobstats.rollups l WHERE l.level = '10m') span
CROSS JOIN LATERAL (
    SELECT summed.target_id, sum(CASE WHEN k.kind = 'MDT' THEN coalesce(summed.open, 0) + coalesce(summed.getattr, 0) + coalesce(summed.setattr, 0) ELSE coalesce(summed.read, 0) + coalesce(summed.write, 0) END) AS calls
    FROM jobstats.rollup_10m_targets summed JOIN jobstats.targets k ON k.target_id = summed.target_id
    WHERE summed.bucket > span.until - interval '1 hour' AND summed.bucket <= span.until
        AND summed.bucket > jobstats_internal.planned_ago(interval '3 hours')
    GROUP BY summed.target_id
    HAVING sum(summed.observed_usecs) >= 3590000000
) w
JOIN jobstats.targets t ON t.target_id = w.target_id
LEFT JOIN LATERAL (
    SELECT sum(CASE WHEN t.kind = 'MDT' THEN coalesce(summed.open, 0) + coalesce(summed.getattr, 0) + coalesce(summed.setattr, 0) ELSE coalesce(summed.read, 0) + coalesce(summed.write, 0) END) AS calls
    FROM jobstats.rollup_10m summed
    WHERE summed.target_id = w.target_id AND summed.bucket > span.until - interval '1 hour' AND summed.bucket <= span.until
        AND summed.bucket > jobstats_internal.planned_ago(interval '3 hours')
) e ON true
WHERE span.until > now() - interval '2 hours'
GROUP BY t.cluster, t.filesystem, span.until
HAVING sum(w.calls) >= 1000 AND 5 * sum(greatest(w.calls - coalesce(e.calls, 0), 0)) > sum(w.calls)
