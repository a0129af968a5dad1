(
    SELECT known.* FROM jobstats.job_ids known
    WHERE known.job_no = ANY (ARRAY(
        SELECT held.job_no FROM jobstats.entry_jobs held WHERE held.valid_from < @until@ AND held.valid_to > @since@))
) job ON job.job_no = entry_job.job_no
