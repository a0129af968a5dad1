-- Takes numbers of jobs from the queue.
WITH taken AS (
    DELETE FROM jobstats.to_match m
    WHERE m.ctid = ANY (ARRAY(SELECT q.ctid FROM jobstats.to_match q LIMIT $1))
    RETURNING m.job
)
SELECT DISTINCT t.job FROM taken t
