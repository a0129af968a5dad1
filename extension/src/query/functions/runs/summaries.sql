-- Jobs that are done, the last ones first.
SELECT summary.*
FROM @summaries@ summary
WHERE ($1 IS NULL OR summary.job = $1 OR summary.label = $1) AND ($2 IS NULL OR summary.uid = $2) AND ($3 IS NULL OR summary.scheduler = $3)
    AND ($4 IS NULL OR summary.ended > $4) AND ($5 IS NULL OR summary.ended <= $5)
ORDER BY summary.ended DESC, summary.started DESC, summary.job_no DESC
LIMIT $6
