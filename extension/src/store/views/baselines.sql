-- The observations of each target with whose counters nothing before could be compared, and the one before each.
CREATE OR REPLACE VIEW jobstats.baselines AS
SELECT o.target_id, o."time", (
        SELECT before."time" FROM jobstats.observations before
        WHERE before.target_id = o.target_id AND before."time" < o."time" ORDER BY before."time" DESC LIMIT 1) AS previous
FROM jobstats.observations o
WHERE o.since IS NULL;
