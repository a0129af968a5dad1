-- Stores entries that are new, and queues the numbers of their jobs, if there is any accounting to match them with.
WITH inserted AS (
    INSERT INTO jobstats.entries (entry_id, name, job, uid, gid, node, executable, pid, format, status, workload, first_seen)
    SELECT *, $12 FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[],
        $7::text[], $8::bigint[], $9::text[], $10::text[], $11::text[])
    ON CONFLICT (entry_id) DO NOTHING
    RETURNING entry_id, job
), queued AS (
    INSERT INTO jobstats.to_match (job)
    SELECT DISTINCT i.job FROM inserted i WHERE i.job IS NOT NULL AND EXISTS (SELECT FROM jobstats.jobs)
)
SELECT i.entry_id FROM inserted i
