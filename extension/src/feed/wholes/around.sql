-- The readings of a target ($1) before, at and after a time ($2), the former not before $3.
(
    SELECT r."time", r.since, r.server, r.body, r.digest FROM jobstats.target_readings r
    WHERE r.target_id = $1 AND r."time" < $2 AND r."time" >= $3 ORDER BY r."time" DESC LIMIT 1
) UNION ALL (
    SELECT r."time", r.since, r.server, r.body, r.digest FROM jobstats.target_readings r
    WHERE r.target_id = $1 AND r."time" >= $2 ORDER BY r."time" LIMIT 2
) ORDER BY 1
