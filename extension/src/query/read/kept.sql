-- Rows of increments with the setting `keep`, where it left something out of their observation.
SELECT usage.*, brief.kept
FROM (
    @rows@
) usage
LEFT JOIN jobstats.observations brief ON brief.target_id = usage.target_id AND brief."time" = usage.observed
    AND brief."time" > ($1)[1] AND brief.kept IS NOT NULL
