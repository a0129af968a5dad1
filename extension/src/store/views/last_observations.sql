-- What jobstats_targets() shows of each target now, found by its key: a front gets a row for each target instead of searching for each.
CREATE OR REPLACE VIEW jobstats.last_observations AS
SELECT t.target_id, last."time", last.since, last.server,
    (
        SELECT percentile_disc(0.5::double precision) WITHIN GROUP (ORDER BY recent."time" - recent.since)
        FROM (
            SELECT o."time", o.since FROM jobstats.observations o
            WHERE o.target_id = t.target_id AND o."time" > last."time" - interval '1 day' AND o."time" <= last."time"
            ORDER BY o."time" DESC LIMIT 10
        ) recent
    ) AS usual_interval,
    last.entries, last.problems, last.added, last.resets, last.removed,
    (SELECT o."time" FROM jobstats.observations o WHERE o.target_id = t.target_id AND o."time" <= now() ORDER BY o."time" DESC LIMIT 1) AS before,
    (SELECT o."time" FROM jobstats.observations o WHERE o.target_id = t.target_id AND o."time" > now() ORDER BY o."time" LIMIT 1) AS after
FROM jobstats.targets t
LEFT JOIN LATERAL (
    SELECT o.* FROM jobstats.observations o
    WHERE o.target_id = t.target_id AND t.retired IS NULL AND o."time" > now() - interval '24 hours'
        AND o."time" > jobstats_internal.planned_ago(interval '24 hours')
    ORDER BY o."time" DESC LIMIT 1
) last ON true;
