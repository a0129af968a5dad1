-- Queues the jobs with a summary that were active on a target on a day with late changes: their usage may have changed. Days
-- without sums yet are looked up in the rollup of ten minutes.
WITH late AS MATERIALIZED (
    SELECT DISTINCT d.target_id, g.instant + interval '1 microsecond' AS day
    FROM jobstats.dirty d
    CROSS JOIN LATERAL generate_series(date_bin(interval '1 day', d.span_from, timestamptz 'epoch'), d.span_to - interval '1 microsecond', interval '1 day')
        AS g (instant)
    WHERE d.known
), active AS (
    SELECT r.entry_id, l.day
    FROM late l
    JOIN jobstats.rollup_1d r ON r.target_id = l.target_id AND r.bucket = l.day
    WHERE r.bucket = ANY (ARRAY(SELECT n.day FROM late n))
    UNION
    SELECT r.entry_id, l.day
    FROM late l
    JOIN jobstats.rollup_10m r ON r.target_id = l.target_id AND r.bucket >= l.day AND r.bucket < l.day + interval '1 day'
    WHERE r.bucket > (SELECT v.refreshed FROM jobstats.rollups v WHERE v.level = text '1d')
        AND r.bucket >= (SELECT min(n.day) FROM late n)
)
INSERT INTO jobstats.to_summarize (job_no, due)
SELECT DISTINCT s.job_no, s.ended
FROM active a
JOIN jobstats.entry_jobs j ON j.entry_id = a.entry_id AND a.day > j.valid_from AND a.day <= j.valid_to
JOIN jobstats.job_summaries s ON s.job_no = j.job_no
ON CONFLICT DO NOTHING
