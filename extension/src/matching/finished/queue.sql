-- Queues jobs that are done ($1, due at $2), and deletes summaries of jobs that go on ($3), or that have become parts of other jobs with
-- their number ($4). Summaries of jobs that retention has taken stay.
WITH running AS (
    DELETE FROM jobstats.job_summaries s WHERE s.job_no = ANY ($3)
), gone AS (
    DELETE FROM jobstats.job_summaries s
    WHERE s.job = ANY ($4) AND NOT EXISTS (SELECT FROM jobstats.job_ids i WHERE i.job_no = s.job_no)
        AND EXISTS (
            SELECT FROM jobstats.job_ids i
            WHERE i.job = s.job AND i.scheduler = s.scheduler AND i.started <= s.ended
                AND coalesce(i.ended, timestamptz 'infinity') >= s.started)
), waiting AS (
    DELETE FROM jobstats.to_summarize q WHERE q.job_no = ANY ($3)
)
INSERT INTO jobstats.to_summarize AS q (job_no, due)
SELECT d.job_no, d.due FROM unnest($1::bigint[], $2::timestamptz[]) AS d (job_no, due)
ON CONFLICT (job_no) DO UPDATE SET due = excluded.due WHERE q.due <> excluded.due
