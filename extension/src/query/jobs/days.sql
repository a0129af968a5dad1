-- The rows of usage with the days to which they belong, if their entry has several jobs; there are few such entries. For a reader of their
-- own work, of all entries.
SELECT usage.*, days.valid_from
FROM (
    @usage@
) usage
LEFT JOIN (
    SELECT entry_job.entry_id, entry_job.valid_from, entry_job.valid_to
    FROM jobstats.entry_jobs entry_job
    WHERE @divided@entry_job.valid_to > @since@ AND entry_job.valid_from < @until@
) days ON days.entry_id = usage.entry_id AND days.valid_from < usage.at AND days.valid_to >= usage.at
