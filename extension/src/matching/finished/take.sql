-- Takes jobs that are due from the queue: rollups reach as far, and all targets that are not silent were observed then. Which these are is
-- only looked up if any job may be due.
WITH refreshed AS (
    SELECT l.refreshed FROM jobstats.rollups l WHERE l.level = text '10m'
), pace AS (
@pace@
), known AS MATERIALIZED (
    SELECT least(f.refreshed, (
        SELECT min(p.last_observation)
        FROM pace p JOIN jobstats.targets t ON t.target_id = p.target_id
        WHERE NOT p.silent AND t.retired IS NULL)) AS until
    FROM refreshed f
    WHERE EXISTS (SELECT FROM jobstats.to_summarize q WHERE q.due <= f.refreshed)
)
DELETE FROM jobstats.to_summarize q
WHERE q.job_no = ANY (ARRAY(
    SELECT w.job_no FROM jobstats.to_summarize w WHERE w.due <= (SELECT k.until FROM known k) ORDER BY w.due, w.job_no LIMIT $1))
RETURNING q.job_no
