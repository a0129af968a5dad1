CREATE TABLE jobstats.@relation@ (
    bucket timestamptz NOT NULL, @key@ @key_type@, target_id integer NOT NULL,
    first timestamptz NOT NULL, last timestamptz NOT NULL, resets bigint NOT NULL@columns@@operations@
) @partitioned@;
@index@CREATE INDEX @relation@_bucket ON jobstats.@relation@ USING brin (bucket) WITH (pages_per_range = 32)
