-- The live view with dimensions, with every operation divided by the seconds of its bucket.
CREATE OR REPLACE VIEW jobstats.rates_@name@ AS
SELECT summed.since, summed.until, summed.bucket, summed.first, summed.last, summed.resets,
    target.cluster, target.filesystem, target.kind, target.name AS target,
    entry.workload, entry.job, entry.uid, known.user_name, entry.gid, entry.node, entry.executable, entry.pid,
    entry.status, entry.name AS entry@rates@
FROM jobstats.increments_@name@ summed
CROSS JOIN (SELECT extract(epoch FROM interval '@width@')::double precision AS seconds) width
LEFT JOIN jobstats.targets target ON target.target_id = summed.target_id
LEFT JOIN jobstats.entries entry ON entry.entry_id = summed.entry_id
LEFT JOIN jobstats.users known ON known.uid = entry.uid
