-- Up to when the rollups of this store are complete, for a front; without observations they are.
CREATE OR REPLACE VIEW jobstats.rollup_states AS
SELECT l.level, l.width, CASE WHEN l.refreshed > 'epoch' THEN l.refreshed ELSE f.begins END AS refreshed, l.dropped,
    CASE WHEN l.users_refreshed > 'epoch' THEN l.users_refreshed ELSE f.begins END AS users_refreshed, l.retention
FROM jobstats.rollups l
CROSS JOIN LATERAL (
    SELECT coalesce(date_bin(l.width, min(s.since), timestamptz 'epoch'), 'infinity') AS begins
    FROM jobstats.spans s
    WHERE least(l.refreshed, l.users_refreshed) = 'epoch'
) f;
