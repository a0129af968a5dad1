-- While texts are fed nothing that is committed is wrong, seen at once or by who locks target after target. Apart, because
-- who has read and then locks may meet DDL that waits for him.
DO $$ BEGIN ASSERT NOT EXISTS (SELECT FROM jobstats_audit(texts.at(-1), texts.at(100))), 'the audit disagrees'; END $$;
DO $$
BEGIN
    ASSERT NOT EXISTS (SELECT FROM jobstats_reprocess(texts.at(-1), texts.at(100)) WHERE changed > 0), 'something was put right';
END
$$;

-- What rollups show is what increments say at that moment, however far they have been brought up to date; so is what is
-- read of them.
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
DO $$
BEGIN
    ASSERT differences('increments_') = 0, 'rollups do not show what increments say';
    ASSERT (SELECT total FROM jobstats_totals(texts.at(-60), texts.at(120), 'write_bytes', ''))
        = (SELECT sum(write_bytes) FROM jobstats.increments), 'totals are not those of increments';
END
$$;
COMMIT;
