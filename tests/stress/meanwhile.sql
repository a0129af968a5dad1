-- While texts are fed, no committed data is wrong, whether read at once or after locking target after target. Separately, because reading
-- first and locking later may deadlock with DDL that waits for the reader.
DO $$ BEGIN ASSERT NOT EXISTS (SELECT FROM jobstats_audit(texts.at(-1), texts.at(100))), 'the audit disagrees'; END $$;
DO $$
BEGIN
    ASSERT NOT EXISTS (SELECT FROM jobstats_reprocess(texts.at(-1), texts.at(100)) WHERE changed > 0), 'something was put right';
END
$$;

-- Rollups always show the current sums of increments, however far they have been refreshed; so do queries on them.
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
DO $$
BEGIN
    ASSERT differences('increments_') = 0, 'rollups do not show what increments say';
    ASSERT (SELECT total FROM jobstats_totals(texts.at(-60), texts.at(120), 'write_bytes', ''))
        = (SELECT sum(write_bytes) FROM jobstats.increments), 'totals are not those of increments';
END
$$;
COMMIT;
