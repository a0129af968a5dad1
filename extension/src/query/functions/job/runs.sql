-- Runs of jobs with their ends: a run in no text for two days was lost when it was last named.
SELECT run.scheduler, run.label, run.started, run.nodes, @columns@,
    CASE WHEN run.ended IS NOT NULL THEN greatest(run.ended, run.started)
        WHEN run.started IS NOT NULL AND run.updated < known.newest - interval '48 hours' THEN greatest(run.updated, run.started) END AS ended
FROM @jobs@ run
LEFT JOIN jobstats.users person ON person.uid = run.uid
LEFT JOIN jobstats.schedulers known ON known.scheduler = run.scheduler
WHERE @which@
