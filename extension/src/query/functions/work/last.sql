-- What each entry did in the last observation of targets ($2) at a time ($1), or in the last hour of it.
WITH last AS MATERIALIZED (
    SELECT target.target_id, target.since, target."time"
    FROM @extschema@.jobstats_targets($1) target
    WHERE target.since IS NOT NULL AND ($2 IS NULL OR target.target_id = ANY ($2))
),
@last_work@
SELECT work.target_id, work.entry_id, @columns@
FROM work
