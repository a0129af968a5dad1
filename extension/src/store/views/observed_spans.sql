-- The spans in which targets were observed, the open ones up to the last observation. A front gets all of them with one scan.
CREATE OR REPLACE VIEW jobstats.observed_spans AS
SELECT s.target_id, s.since, coalesce(s.until, t.last_observation) AS until
FROM jobstats.spans s
JOIN jobstats.targets t ON t.target_id = s.target_id;
