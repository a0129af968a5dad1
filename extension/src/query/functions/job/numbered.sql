-- The number of the newest job with a label, unless the label is itself a number in job_stats, and not only because another user has exported
-- it. Elements of an array may share the number. Of who may not see all, only the own runs count.
SELECT run.job, run.started, EXISTS (
        SELECT FROM jobstats.jobs other
        WHERE other.scheduler = run.scheduler AND other.job = run.job AND other.label <> run.label
            AND (other.started < run.started + interval '168 hours' AND other.started > run.started - interval '168 hours'
                OR run.started IS NULL OR other.started IS NULL)
    ) AS is_array
FROM @jobs@ run
WHERE run.label = $3 AND run.job <> $3 AND ($4 IS NULL OR run.scheduler = $4)
    AND NOT EXISTS (SELECT FROM @entries@ entry WHERE entry.job = $3 AND ($1::bigint[] IS NULL OR entry.uid = ANY ($1))
        AND (entry.uid = run.uid OR entry.uid < (SELECT s.system_uids_below FROM jobstats.settings s) OR entry.uid IS NULL OR run.uid IS NULL))
ORDER BY run.started DESC NULLS LAST
LIMIT 1
