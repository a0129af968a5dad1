CREATE MATERIALIZED VIEW jobstats.@name@
WITH (timescaledb.continuous, timescaledb.materialized_only = true, timescaledb.create_group_indexes = false,
    timescaledb.chunk_interval = '@chunk@') AS
@sums@
WITH NO DATA;
CREATE INDEX @name@_entry ON jobstats.@name@ (entry_id, bucket)
