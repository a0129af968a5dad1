DELETE FROM jobstats.entry_jobs j
WHERE NOT EXISTS (
    SELECT FROM jobstats.entries e LEFT JOIN jobstats.job_ids i ON i.job = e.job
    WHERE e.entry_id = j.entry_id AND (i.job IS NOT NULL OR e.status = text 'forgotten' AND EXISTS (SELECT FROM jobstats.job_ids k WHERE k.job_no = j.job_no)))
