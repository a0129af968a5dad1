-- What servers saw of each group. Of the targets, the OST with most bytes is told apart: its bytes, its time (-1: unknown), and the
-- number of OSTs of its file system.
WITH one AS (
    SELECT answer.step, answer.kind, answer.first, answer.last_active, peers.targets@measures@@dimensions@
    FROM (
        @answer@
    ) answer
    LEFT JOIN (
        SELECT target.cluster, target.filesystem, count(*) AS targets
        FROM jobstats.targets target
        WHERE target.kind = text 'OST' AND target.retired IS NULL
        GROUP BY target.cluster, target.filesystem
    ) peers ON peers.cluster = answer.cluster AND peers.filesystem = answer.filesystem
    WHERE answer.step IS NOT NULL
), work AS (
    SELECT one.step, coalesce(extract(epoch FROM max(one.last_active) - min(one.first)), 0) AS seconds, sum(one.requests) AS requests,
        CASE WHEN NOT bool_or(one.requests > 0 AND one.service_time IS NULL) THEN sum(one.service_time) END AS service_time,
        sum(one.service_time) FILTER (WHERE one.kind = text 'MDT') AS on_mdts,
        sum(one.read_bytes) AS read_bytes, sum(one.read) AS read, sum(one.read_time) AS read_time,
        sum(one.write_bytes) AS write_bytes, sum(one.write) AS write, sum(one.write_time) AS write_time,
        max(ARRAY[coalesce(one.read_bytes, 0) + coalesce(one.write_bytes, 0), coalesce(one.service_time, -1), one.targets])
            FILTER (WHERE one.kind = text 'OST') AS most,
        sum(one.open) AS opens, sum(one.open_time) AS open_time, sum(one.mknod) AS creates, sum(one.mknod_time) AS create_time,
        sum(one.unlink) AS unlinks, sum(one.unlink_time) AS unlink_time,
        sum(one.getattr) FILTER (WHERE one.kind = text 'MDT') AS getattrs,
        sum(one.getattr_time) FILTER (WHERE one.kind = text 'MDT') AS getattr_time,
        sum(one.sync) AS syncs, sum(one.sync_time) AS sync_time@of_group@
    FROM one
    GROUP BY one.step@of_group@
)
SELECT work.seconds::double precision, work.requests::double precision, work.service_time::double precision,
    work.on_mdts::double precision, work.read_bytes::double precision, work.read::double precision,
    work.read_time::double precision, work.write_bytes::double precision, work.write::double precision,
    work.write_time::double precision, work.most[1]::double precision, nullif(work.most[2], -1)::double precision,
    work.most[3]::double precision, work.opens::double precision, work.open_time::double precision,
    work.creates::double precision, work.create_time::double precision, work.unlinks::double precision,
    work.unlink_time::double precision, work.getattrs::double precision, work.getattr_time::double precision,
    work.syncs::double precision, work.sync_time::double precision@values@
FROM work
-- Sums of floating-point numbers depend on the order.
ORDER BY work.step@order@
LIMIT @limit@
