-- The live view with dimensions, with every operation divided by the seconds of its bucket. In the newest bucket of a target,
-- these are the seconds up to its last observation.
CREATE OR REPLACE VIEW jobstats.rates_@name@ AS
SELECT summed.since, summed.until, summed.bucket, summed.first, summed.last, summed.resets,
    target.cluster, target.filesystem, target.kind, target.name AS target,
    entry.workload, entry.job, @user@, @identifier@,
    entry.status, entry.name AS entry, @account@@rates@
FROM jobstats.increments_@name@ summed
LEFT JOIN jobstats.targets target ON target.target_id = summed.target_id
CROSS JOIN LATERAL (
    SELECT extract(epoch FROM CASE WHEN target.last_observation > summed.since AND target.last_observation < summed.until
        THEN target.last_observation - summed.since ELSE interval '@width@' END)::double precision AS seconds
) width
LEFT JOIN jobstats.entries entry ON entry.entry_id = summed.entry_id
@names@
