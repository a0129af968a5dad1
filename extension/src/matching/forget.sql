DELETE FROM jobstats.entry_jobs j
WHERE NOT EXISTS (
    SELECT FROM jobstats.entries e JOIN jobstats.job_ids i ON i.job = e.job WHERE e.entry_id = j.entry_id)
