-- The days of targets on which these entries were active in ranges ($2, $3], if sums by user are computed for them. Jobs that
-- retention takes leave their accounts in the sums.
INSERT INTO jobstats.dirty_users (target_id, day)
SELECT DISTINCT active.target_id, date_bin(interval '1 day', active.bucket - interval '1 microsecond', timestamptz 'epoch')
FROM (
    SELECT c.entry_id, greatest(c.since, now() - s.jobs_retention) AS since, least(c.until, finest.users_refreshed) AS until,
        day.refreshed AS days
    FROM unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[]) AS c (entry_id, since, until)
    JOIN jobstats.rollups finest ON finest.level = text '10m'
    JOIN jobstats.rollups day ON day.level = text '1d'
    CROSS JOIN jobstats.settings s
    WHERE c.since < finest.users_refreshed
) changed
CROSS JOIN LATERAL (
    SELECT r.target_id, r.bucket FROM jobstats.rollup_1d r
    WHERE r.entry_id = changed.entry_id AND r.bucket > changed.since AND r.bucket <= least(changed.until, changed.days)
    UNION ALL
    SELECT r.target_id, r.bucket FROM jobstats.rollup_10m r
    WHERE r.entry_id = changed.entry_id AND r.bucket > greatest(changed.since, changed.days) AND r.bucket <= changed.until
) active
ON CONFLICT DO NOTHING
