-- Event $1 for a reader who sees users $2 and accounts $3 (NULL: all), or no names ($4).
SELECT e.kind, e.filesystem, e.ended IS NOT NULL AS is_over, e.targets, e.servers, e.value, e.usual, e.reason, e.details::text AS details,
    CASE WHEN e.kind = 'failover' THEN 'At ' || t.began WHEN e.ended IS NULL THEN 'Since ' || t.began
        ELSE format('From %s to %s', t.began, to_char(e.until, CASE WHEN e.until::date = e.began::date THEN text 'HH24:MI' ELSE 'YYYY-MM-DD HH24:MI' END))
        END AS "when",
    jobstats_internal.culprits_for(e.culprits, $2, $3, $4)::text AS culprits, (e.culprits - 'subjects' - 'named')::text AS load,
    ARRAY(
        SELECT format('%s of %s (event %s)', o.kind, array_to_string(o.targets[1:3], text ', '), o.event_id)
        FROM jobstats.events o
        WHERE o.cluster = e.cluster AND o.filesystem = e.filesystem AND o.event_id <> e.event_id AND o.withdrawn IS NULL
            AND o.until >= e.began - interval '1 hour' AND o.began <= e.until
        ORDER BY o.began, o.event_id
    ) AS others,
    (SELECT jsonb_build_object('event_id', o.event_id, 'began', to_char(o.began, text 'YYYY-MM-DD HH24:MI'), 'verdict', o.verdict,
            'note', CASE WHEN $2::bigint[] IS NULL AND NOT $4::boolean THEN o.note END)::text
        FROM jobstats.events o
        WHERE o.kind = e.kind AND o.cluster = e.cluster AND o.filesystem = e.filesystem AND o.began < e.began AND o.verdict IS NOT NULL AND o.withdrawn IS NULL
            AND CASE e.kind WHEN 'rule' THEN o.details -> 'rule' = e.details -> 'rule' ELSE o.targets && e.targets END
        ORDER BY o.began DESC, o.event_id DESC LIMIT 1
    ) AS earlier
FROM jobstats.events e
CROSS JOIN LATERAL (SELECT to_char(e.began, text 'YYYY-MM-DD HH24:MI') AS began) t
WHERE e.event_id = $1
