-- The events that lasted into ($1, $2], of names ($3) and severities ($4) that match patterns, with withdrawn ones ($5). name is
-- the culprit, if one is named, or who broke the rule.
WITH judged AS (
    SELECT e.kind, count(*) AS judged, avg((e.verdict <> 'false')::integer)::double precision AS precision
    FROM jobstats.events e WHERE e.verdict IS NOT NULL GROUP BY e.kind
)
SELECT e.event_id, e.kind AS event, e.severity,
    nullif(concat_ws(', ', coalesce(who.subject ->> 'user_name', who.subject ->> 'uid'), who.subject ->> 'account', who.subject ->> 'job'), '') AS name,
    e.cluster, e.filesystem, e.began, e.found AS detected_at, e.until, e.ended, e.targets, e.servers, e.value, e.usual, e.rate, e.load_times, e.reason, e.notified,
    e.verdict, CASE WHEN @uids@::bigint[] IS NULL AND NOT @is_nameless@::boolean THEN e.note END AS note, e.withdrawn, e.updated,
    coalesce(j.judged, 0) AS judged, j.precision, seen.culprits,
    jsonb_strip_nulls(jsonb_build_object('cluster', e.cluster, 'filesystem', e.filesystem, 'uid', who.subject -> 'uid',
        'account', jobstats_internal.exactly(who.subject ->> 'account'), 'job', jobstats_internal.exactly(who.subject ->> 'job'))) AS labels
FROM jobstats.events e
CROSS JOIN LATERAL (SELECT jobstats_internal.culprits_for(e.culprits, @uids@, @accounts@, @is_nameless@) AS culprits) seen
CROSS JOIN LATERAL (
    SELECT CASE WHEN e.kind = 'rule' OR (seen.culprits -> 'named')::boolean THEN seen.culprits #> '{subjects,0}' END AS subject
) who
LEFT JOIN judged j ON j.kind = e.kind
WHERE e.began <= @until@ AND (e.until > @since@ OR e.ended IS NULL)
    AND (@events@::text[] IS NULL OR e.kind LIKE ANY (jobstats_internal.as_like(@events@)))
    AND (@severities@::text[] IS NULL OR e.severity LIKE ANY (jobstats_internal.as_like(@severities@)))
    AND (@withdrawn@::boolean OR e.withdrawn IS NULL)@conditions@
ORDER BY e.began DESC, e.event_id DESC
LIMIT 1000001
