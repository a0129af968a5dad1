-- The pace of each target at its last observation, however long ago.
CREATE OR REPLACE VIEW jobstats.paces AS
WITH last AS (
    SELECT e.target_id, e.last AS "time" FROM jobstats.observation_ends e WHERE e.last IS NOT NULL
)
@pace_of_last@;
