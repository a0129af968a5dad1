-- The first and the last observation of each target, found by its key: a front gets a row for each target instead of all observations.
CREATE OR REPLACE VIEW jobstats.observation_ends AS
SELECT t.target_id,
    (SELECT o."time" FROM jobstats.observations o WHERE o.target_id = t.target_id ORDER BY o."time" LIMIT 1) AS first,
    (SELECT coalesce(o.since, o."time") FROM jobstats.observations o WHERE o.target_id = t.target_id ORDER BY o."time" LIMIT 1) AS since,
    (SELECT o."time" FROM jobstats.observations o WHERE o.target_id = t.target_id ORDER BY o."time" DESC LIMIT 1) AS last
FROM jobstats.targets t;
