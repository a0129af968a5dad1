-- The rows of submissions; `place` is the index of the submission in the arrays. The order follows the index on all of these columns: a
-- number may have very many runs, which the index on numbers alone would read for each submission.
SELECT k.number - 1 AS place, j.at, @columns@, j.extra::text AS extra, j.updated, j.provenance::text AS provenance
FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) WITH ORDINALITY AS k (scheduler, job, label, submitted, number)
CROSS JOIN LATERAL (
    (SELECT r.ctid::text AS at, r.* FROM jobstats.jobs r
    WHERE r.scheduler = k.scheduler AND r.job = k.job AND r.label = k.label AND r.submitted = k.submitted
    ORDER BY r.submitted, r.started)
    UNION ALL
    (SELECT r.ctid::text, r.* FROM jobstats.jobs r
    WHERE r.scheduler = k.scheduler AND r.job = k.job AND r.label = k.label AND r.submitted IS NULL AND k.submitted IS NULL
    ORDER BY r.submitted, r.started)
) j
