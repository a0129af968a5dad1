-- The runs with the numbers of a job, the newest first. One that no text has named for two days was lost when it was last named. Users
-- have the names that the store knows, or else those of the scheduler.
SELECT run.scheduler, run.label, coalesce(person.user_name, run.user_name) AS user_name, run.account, run."partition", run.job_name,
    run.state, run.exit_code, run.submitted, run.started,
    CASE WHEN run.ended IS NOT NULL THEN greatest(run.ended, run.started)
        WHEN run.started IS NOT NULL AND run.updated < known.newest - interval '48 hours' THEN greatest(run.updated, run.started) END AS ended,
    run.nodes, run.cpus
FROM @jobs@ run
LEFT JOIN jobstats.users person ON person.uid = run.uid
LEFT JOIN jobstats.schedulers known ON known.scheduler = run.scheduler
WHERE run.job = ANY ($1)
ORDER BY run.started DESC NULLS FIRST, run.scheduler DESC, run.label DESC
LIMIT $2
