-- The numbers of the elements of an array, at most $6, the newest ones, and the label of the newest. Their labels begin with the number.
SELECT coalesce(array_agg(newest.job), '{}') AS numbers, (array_agg(newest.label ORDER BY newest.started DESC NULLS LAST, newest.label))[1] AS label
FROM (
    SELECT run.job, max(run.started) AS started, max(run.label) AS label
    FROM @jobs@ run
    WHERE starts_with(run.label, $4) AND run.parent IN ($3, $3 || '[]') AND ($5 IS NULL OR run.scheduler = $5)
    GROUP BY run.job
    ORDER BY max(run.started) DESC NULLS LAST, run.job
    LIMIT $6
) newest
