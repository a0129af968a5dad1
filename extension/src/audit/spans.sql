-- The spans of targets that differ from the observations in ($1, $2] or are missing, and the start of the first one.
SELECT t.cluster, t.name AS target, wrong."time", wrong.stored, wrong.computed
FROM jobstats_internal.computed_spans($1, $2) s
JOIN jobstats.targets t ON t.target_id = s.target_id
CROSS JOIN LATERAL (
    SELECT min(lower(w.span)) AS "time", string_agg(format(text '(%s, %s]', lower(w.span), upper(w.span)), text ', ' ORDER BY w.span) FILTER (WHERE w.is_stored) AS stored,
        string_agg(format(text '(%s, %s]', lower(w.span), upper(w.span)), text ', ' ORDER BY w.span) FILTER (WHERE NOT w.is_stored) AS computed
    FROM (
        SELECT n.span, true AS is_stored FROM unnest(s.stored) AS n (span) WHERE n.span <> ALL (s.computed)
        UNION ALL
        SELECT n.span, false FROM unnest(s.computed) AS n (span) WHERE n.span <> ALL (s.stored)
    ) w
) wrong
WHERE wrong."time" IS NOT NULL
ORDER BY t.cluster, t.name
