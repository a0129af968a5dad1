-- The jobs with some numbers, of a scheduler or of any, of which runs began in a span.
SELECT i.job_no FROM @jobs@ i
WHERE i.job = ANY ($1) AND ($4 IS NULL OR i.scheduler = $4) AND i.started <= $3 AND i.last_started >= $2
    AND ($5::bigint[] IS NULL OR i.uid = ANY ($5))
