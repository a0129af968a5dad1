-- Running setup confirms that the clock is right. Limits that were set while it was ahead are reset. Otherwise feeds would be too late, or
-- would mark all their rows as changed.
WITH right_now AS (
    SELECT l.level, jobstats_internal.bucket(l.width, now() - s.refresh_lag) AS refreshed, jobstats_internal.bucket(interval '1 day', now()) AS day
    FROM jobstats.rollups l, jobstats.settings s
), rollups AS (
    UPDATE jobstats.rollups l
    SET refreshed = least(l.refreshed, n.refreshed), users_refreshed = least(l.users_refreshed, n.refreshed), dropped = least(l.dropped, n.day)
    FROM right_now n
    WHERE n.level = l.level AND (greatest(l.refreshed, l.users_refreshed) > now() OR l.dropped > n.day)
)
UPDATE jobstats.refresh r
SET clock = now(), announced = CASE WHEN r.announced > now() THEN n.refreshed ELSE r.announced END,
    horizon = least(r.horizon, n.day), dropped = least(r.dropped, n.day), matched = least(r.matched, now())
FROM right_now n
WHERE n.level = '10m'
