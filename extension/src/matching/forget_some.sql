-- Lets these entries belong to no job until they are matched anew, and queues the numbers of their jobs.
WITH gone AS (
    DELETE FROM jobstats.entry_jobs j WHERE j.entry_id = ANY ($1)
)
INSERT INTO jobstats.to_match (job)
SELECT DISTINCT n.job FROM unnest($2::text[]) AS n (job)
WHERE n.job IS NOT NULL AND EXISTS (SELECT FROM jobstats.jobs)
