@found@
INSERT INTO jobstats.sample_series (cluster, server, target_id, name, labels, since, "time", node)
SELECT $1, $2, found.target_id, found.name, found.labels, found."time", timestamptz '-infinity', found.node
FROM found
WHERE found.series_id IS NULL
LIMIT (
    SELECT greatest(@limit@ - count(*), 0) FROM jobstats.sample_series series
    WHERE series.cluster = $1 AND series.server = $2 AND series."time" > now() - interval '7 days')
ON CONFLICT DO NOTHING
