-- Stores entries that are new, and queues the numbers of their jobs, if there is any accounting to match them with.
WITH inserted AS (
    INSERT INTO jobstats.entries (entry_id, name, @names@, workload, clusters, first_seen)
    SELECT n.entry_id, n.name, @values@, n.workload,
        CASE WHEN n.clusters IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(n.clusters::jsonb)) END, $2
    FROM unnest($1::bigint[], $3::text[], $4::text[], $5::text[], @arrays@)
        AS n (entry_id, name, workload, clusters, @names@)
    ON CONFLICT (entry_id) DO NOTHING
    RETURNING entry_id, job
), queued AS (
    INSERT INTO jobstats.to_match (job)
    SELECT DISTINCT i.job FROM inserted i WHERE i.job IS NOT NULL AND EXISTS (SELECT FROM jobstats.jobs)
)
SELECT i.entry_id FROM inserted i
