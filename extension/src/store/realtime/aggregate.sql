CREATE MATERIALIZED VIEW jobstats.@aggregate@
WITH (timescaledb.continuous, timescaledb.materialized_only = false, timescaledb.create_group_indexes = false, timescaledb.chunk_interval = '1 day') AS
SELECT @timescale@.time_bucket(interval '10 minutes', i."time", "offset" => interval '1 microsecond') AS bucket, i.target_id, e.uid@sums@
FROM jobstats.increments i
LEFT JOIN jobstats.entries e ON e.entry_id = i.entry_id
GROUP BY 1, 2, 3
WITH NO DATA;
ALTER MATERIALIZED VIEW jobstats.@aggregate@
SET (timescaledb.enable_columnstore = true, timescaledb.segmentby = 'target_id', timescaledb.orderby = 'bucket')
