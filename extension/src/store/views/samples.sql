CREATE OR REPLACE VIEW jobstats.samples AS
SELECT s.series_id, s.cluster, s.server, t.filesystem, t.name AS target, s.name, s.labels, s."time", s.value, s.since, s.counter
FROM jobstats.sample_series s
LEFT JOIN jobstats.targets t ON t.target_id = s.target_id;
