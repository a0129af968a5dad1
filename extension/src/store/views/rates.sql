CREATE OR REPLACE VIEW jobstats.rates AS
SELECT i.since, i."time" AS until, i.observed, i.last_active, i.reset,
    t.cluster, t.filesystem, t.kind, t.name AS target, o.server,
    entry.workload, entry.job, @user@, @identifier@, entry.status, entry.name AS entry, @account@,
@operation_rates@
FROM jobstats.increments i
CROSS JOIN LATERAL (SELECT extract(epoch FROM i."time" - i.since)::double precision AS seconds) s
LEFT JOIN jobstats.targets t ON t.target_id = i.target_id
LEFT JOIN jobstats.observations o ON o.target_id = i.target_id AND o."time" = i.observed
LEFT JOIN jobstats.entries entry ON entry.entry_id = i.entry_id
@names@;
