-- While texts are fed nothing that is committed is wrong, seen at once or by who locks target after target.
DO $$
DECLARE
    since timestamptz := texts.at(-1);
    until timestamptz := texts.at(100);
BEGIN
    ASSERT NOT EXISTS (SELECT FROM jobstats_audit(since, until)), 'the audit disagrees';
    ASSERT NOT EXISTS (SELECT FROM jobstats_reprocess(since, until) WHERE changed > 0), 'something was put right';
END
$$;
