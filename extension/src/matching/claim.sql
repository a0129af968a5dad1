-- Takes from entries the numbers of jobs of other users that they claim ($2), or gives them back. What is forgotten stays as it is.
UPDATE jobstats.entries e
SET job = CASE WHEN n.is_claimed THEN NULL ELSE n.number END, claimed = CASE WHEN n.is_claimed THEN n.number END,
    status = n.status, workload = n.workload
FROM (
    SELECT k.entry_id, coalesce(k.job, k.claimed) AS number, c.is_claimed, c.status, c.workload
    FROM unnest($1::bigint[], $2::boolean[], $3::text[], $4::text[]) AS c (entry_id, is_claimed, status, workload)
    JOIN jobstats.entries k ON k.entry_id = c.entry_id
    WHERE k.status <> text 'forgotten'
    ORDER BY k.entry_id
    FOR NO KEY UPDATE OF k) n
WHERE e.entry_id = n.entry_id
