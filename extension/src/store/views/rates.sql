CREATE OR REPLACE VIEW jobstats.rates AS
SELECT i.since, i."time" AS until, i.observed, i.last_active, i.reset,
    t.cluster, t.filesystem, t.kind, t.name AS target, o.server,
    e.workload, e.job, e.uid, u.user_name, e.gid, e.node, e.executable, e.pid, e.status, e.name AS entry,
@operation_rates@
FROM jobstats.increments i
CROSS JOIN LATERAL (SELECT extract(epoch FROM i."time" - i.since)::double precision AS seconds) s
LEFT JOIN jobstats.targets t ON t.target_id = i.target_id
LEFT JOIN jobstats.observations o ON o.target_id = i.target_id AND o."time" = i.observed
LEFT JOIN jobstats.entries e ON e.entry_id = i.entry_id
LEFT JOIN jobstats.users u ON u.uid = e.uid;
