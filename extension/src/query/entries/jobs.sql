LEFT JOIN jobstats.entry_jobs entry_job ON entry_job.entry_id = entry.entry_id
    AND entry_job.valid_from < @until@ AND entry_job.valid_to > @since@
LEFT JOIN @job@
