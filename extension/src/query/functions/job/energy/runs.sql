-- The runs of jobs that fulfil a condition, with the lists of their nodes. One that no text has named for two days was lost when it was last
-- named.
SELECT run.scheduler, run.job, run.label, run.started, run.nodes, run.node_list,
    CASE WHEN run.ended IS NOT NULL THEN greatest(run.ended, run.started)
        WHEN run.updated < known.newest - interval '48 hours' THEN greatest(run.updated, run.started) END AS ended
FROM @jobs@ run
LEFT JOIN jobstats.schedulers known ON known.scheduler = run.scheduler
WHERE @condition@
LIMIT @limit@
