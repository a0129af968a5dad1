-- The energy of these jobs ($1), where nodes are metered. Of jobs that had one number, the newest one is known.
UPDATE jobstats.job_summaries s
SET energy = jobstats_internal.energy_of_job(s.job, s.scheduler)
WHERE s.job_no = ANY ($1) AND EXISTS (SELECT FROM jobstats.sample_series series WHERE series.node IS NOT NULL)
    AND NOT EXISTS (
        SELECT FROM jobstats.job_ids later WHERE later.job = s.job AND later.scheduler = s.scheduler AND later.started > s.started)
