CREATE TABLE jobstats.@relation@ (
    bucket timestamptz NOT NULL, observed_usecs bigint NOT NULL, resets bigint NOT NULL,
    target_id integer NOT NULL, exports integer NOT NULL@operations@,
    PRIMARY KEY (target_id, bucket)
) @partitioned@;
CREATE INDEX @relation@_bucket ON jobstats.@relation@ USING brin (bucket) WITH (pages_per_range = 32)
