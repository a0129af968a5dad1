-- When maintenance last completed, and the problems of that call and of later calls that did not complete.
CREATE OR REPLACE VIEW jobstats.maintenance_state AS
SELECT l.completed,
    nullif(concat_ws('; ', CASE WHEN l.completed > now() - interval '1 hour' THEN l.problem END, (
        SELECT string_agg(m.step || ': ' || m.problem, '; ' ORDER BY m.began)
        FROM jobstats.maintenance m WHERE m.began > coalesce(l.completed, '-infinity') AND m.problem IS NOT NULL)), '') AS problem,
    coalesce(l.completed, '-infinity') <= now() - interval '1 hour'
        AND (EXISTS (SELECT FROM jobstats.targets t WHERE t.received < now() - interval '1 hour')
            OR EXISTS (SELECT FROM jobstats.observations o
                WHERE o.received < now() - interval '1 hour' AND o."time" > jobstats_internal.planned_ago(interval '1 day'))) AS is_overdue
FROM (SELECT) one
LEFT JOIN LATERAL (
    SELECT m.began + m.took AS completed, m.problem FROM jobstats.maintenance m
    WHERE m.step = 'all' AND m.took IS NOT NULL ORDER BY m.began DESC LIMIT 1
) l ON true;
