-- The dimensions of entries on targets, each at a time of its own.
SELECT asked.position@dimensions@
FROM unnest(@asked@) WITH ORDINALITY asked (entry_id, "time", target_id, server, position)
JOIN jobstats.targets target ON target.target_id = asked.target_id
JOIN jobstats.entries entry ON entry.entry_id = asked.entry_id
LEFT JOIN jobstats.entry_jobs entry_job ON entry_job.entry_id = entry.entry_id
    AND entry_job.valid_from < asked."time" AND entry_job.valid_to >= asked."time"
LEFT JOIN jobstats.job_ids job ON job.job_no = entry_job.job_no@names@
WHERE true@conditions@
