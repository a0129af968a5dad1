-- The rows of usage with the servers on which they were observed.
SELECT usage.*, observation.server
FROM (
    @usage@
) usage
JOIN jobstats.observations observation ON observation.target_id = usage.target_id
    AND observation."time" = usage.observed AND observation."time" > @since@
WHERE true@conditions@
