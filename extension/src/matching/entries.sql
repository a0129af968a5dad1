-- These entries: the fields of their identifiers, and when they were first seen. A name from accounting is no proof.
SELECT e.entry_id, coalesce(e.job, e.claimed) AS job, e.uid, u.user_name, e.uid < s.system_uids_below AND e.status <> text 'forgotten' AS is_system, e.node, n.scheduler,
    (extract(epoch FROM e.first_seen) * 1000000)::bigint AS first_seen, e.name, e.format, e.claimed IS NOT NULL AS is_claimed
FROM jobstats.entries e
CROSS JOIN jobstats.settings s
LEFT JOIN jobstats.users u ON u.uid = e.uid AND u.source = text 'getent'
LEFT JOIN LATERAL (
    SELECT k.scheduler FROM jobstats.nodes k
    WHERE split_part(e.node, text '.', 1) LIKE ANY (jobstats_internal.as_like(ARRAY[k.pattern]))
    ORDER BY length(k.pattern) DESC, k.pattern LIMIT 1) n ON true
WHERE e.entry_id = ANY ($1) AND coalesce(e.job, e.claimed) IS NOT NULL
