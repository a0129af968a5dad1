-- The events that lasted into ($1, $2], of clusters ($3), file systems ($4), kinds ($5) and severities ($6) that fit patterns, with those that were
-- withdrawn ($7).
WITH judged AS (
    SELECT e.kind, count(*) AS judged, avg((e.verdict <> 'false')::integer)::double precision AS precision
    FROM jobstats.events e WHERE e.verdict IS NOT NULL GROUP BY e.kind
)
SELECT e.event_id, e.kind, e.severity, e.cluster, e.filesystem, e.began, e.found, e.until, e.ended, e.targets, e.servers, e.value, e.usual, e.rate,
    e.load_times, jobstats_internal.culprits_for(e.culprits, $8, $9, $10) AS culprits, e.reason, e.told, e.verdict,
    CASE WHEN $8::bigint[] IS NULL AND NOT $10::boolean THEN e.note END AS note, e.withdrawn, e.updated, coalesce(j.judged, 0) AS judged, j.precision
FROM jobstats.events e
LEFT JOIN judged j ON j.kind = e.kind
WHERE e.began <= $2 AND (e.until > $1 OR e.ended IS NULL)
    AND ($3::text[] IS NULL OR e.cluster LIKE ANY (jobstats_internal.as_like($3))) AND ($4::text[] IS NULL OR e.filesystem LIKE ANY (jobstats_internal.as_like($4)))
    AND ($5::text[] IS NULL OR e.kind LIKE ANY (jobstats_internal.as_like($5))) AND ($6::text[] IS NULL OR e.severity LIKE ANY (jobstats_internal.as_like($6)))
    AND ($7::boolean OR e.withdrawn IS NULL)
ORDER BY e.began DESC, e.event_id DESC
LIMIT 1000001
