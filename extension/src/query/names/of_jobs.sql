UNION ALL
    SELECT entry_job.entry_id, greatest(earlier.named_from, entry_job.valid_from), least(earlier.named_until, entry_job.valid_to),
        earlier.named_until
    FROM earlier
    JOIN jobstats.job_ids job ON job.uid = earlier.uid
    JOIN jobstats.entry_jobs entry_job ON entry_job.job_no = job.job_no
        AND entry_job.valid_from < @until@ AND entry_job.valid_to > @since@
    JOIN jobstats.entries entry ON entry.entry_id = entry_job.entry_id AND entry.uid IS NULL
