-- Rows of increments with the servers on which they were observed.
SELECT usage.*, observation.server
FROM (
    @rows@
) usage
JOIN jobstats.observations observation ON observation.target_id = usage.target_id AND observation."time" = usage.observed
