INSERT INTO jobstats.@relation@ (bucket, target_id@owner@, first, last, resets@names@@columns@)
SELECT summed.bucket, summed.target_id@whose@, min(summed.first), max(summed.last), sum(summed.resets)::bigint@totals@@sums@
FROM jobstats.@rollup@ summed
LEFT JOIN jobstats.entries entry ON entry.entry_id = summed.entry_id
LEFT JOIN jobstats.entry_jobs entry_job ON entry_job.entry_id = summed.entry_id
    AND entry_job.valid_from < summed.bucket AND entry_job.valid_to >= summed.bucket
LEFT JOIN jobstats.job_ids job ON job.job_no = entry_job.job_no
WHERE @condition@
GROUP BY 1, 2@positions@
