-- Stores entries that are new, and queues the numbers of their jobs, if there is any accounting to match them with.
WITH inserted AS (
    INSERT INTO jobstats.entries (entry_id, name, @names@, workload, clusters, first_seen)
    SELECT n.entry_id, n.name, @values@, n.workload,
        CASE WHEN n.clusters IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(n.clusters::jsonb)) END, $13
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::bigint[], $9::text[],
        $10::text[], $11::text[], $12::text[])
        AS n (entry_id, name, @names@, workload, clusters)
    ON CONFLICT (entry_id) DO NOTHING
    RETURNING entry_id, job
), queued AS (
    INSERT INTO jobstats.to_match (job)
    SELECT DISTINCT i.job FROM inserted i WHERE i.job IS NOT NULL AND EXISTS (SELECT FROM jobstats.jobs)
)
SELECT i.entry_id FROM inserted i
