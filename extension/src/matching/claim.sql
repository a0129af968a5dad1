-- Removes the job from entries that claim a job of another user, or restores it. Maintenance then determines again how well the identifier
-- could be read. Forgotten entries stay unchanged.
WITH changed AS (
    UPDATE jobstats.entries e
    SET job = e.claimed, claimed = e.job, status = CASE WHEN e.claimed IS NULL THEN text 'claimed' ELSE 'ok' END,
        workload = coalesce(e.claimed, @without_job@)
    FROM (
        SELECT k.entry_id FROM jobstats.entries k
        WHERE k.entry_id = ANY ($1) AND k.status <> text 'forgotten'
        ORDER BY k.entry_id
        FOR NO KEY UPDATE) k
    WHERE e.entry_id = k.entry_id
    RETURNING e.entry_id, e.job
)
INSERT INTO jobstats.to_identify (entry_id) SELECT c.entry_id FROM changed c WHERE c.job IS NOT NULL
