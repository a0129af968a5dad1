(SELECT known.@column@ FROM jobstats.entry_jobs belongs JOIN jobstats.job_ids known ON known.job_no = belongs.job_no
    WHERE belongs.entry_id = entry.entry_id AND belongs.valid_from < @at@ AND belongs.valid_to >= @at@ LIMIT 1)
