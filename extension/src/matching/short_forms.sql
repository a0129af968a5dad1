-- Clients may send the short form of a Flux job without its ƒ: its entries get the decimal number, which is queued for matching. Any word may
-- look like a short form, so accounting must know it.
WITH renumbered AS (
    UPDATE jobstats.entries e
    SET job = n.job, workload = n.job
    FROM (
        SELECT k.entry_id, j.job
        FROM jobstats.entries k
        JOIN jobstats.jobs j ON j.label = text 'ƒ' || substr(k.job, 2)
        WHERE k.job LIKE text 'f%' AND k.status <> text 'forgotten'
        ORDER BY k.entry_id
        FOR NO KEY UPDATE OF k) n
    WHERE e.entry_id = n.entry_id
    RETURNING e.job
)
INSERT INTO jobstats.to_match (job)
SELECT DISTINCT r.job FROM renumbered r
