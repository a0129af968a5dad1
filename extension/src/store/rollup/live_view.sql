-- The rollup where it is up to date, and elsewhere the rows that it would hold.
CREATE OR REPLACE VIEW jobstats.increments_@name@ AS
SELECT summed.bucket - interval '1 microsecond' AS since,
    summed.bucket + (interval '@width@' - interval '1 microsecond') AS until,
    summed.bucket, summed.entry_id, summed.target_id, summed.first, summed.last, summed.resets@columns@
FROM (
    @current@
    UNION ALL
    @since_refresh@
    UNION ALL
    @dirty@
) summed
