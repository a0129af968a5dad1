AND (entry.uid = ANY (@uids@) OR entry.entry_id = ANY (ARRAY(
    SELECT held.entry_id FROM jobstats.job_ids job JOIN jobstats.entry_jobs held ON held.job_no = job.job_no WHERE job.uid = ANY (@uids@))))
