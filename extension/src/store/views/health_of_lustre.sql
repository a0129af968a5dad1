-- The state that servers report: the gauges of the last day, except of retired targets.
SELECT g.cluster, g.target_id, g.server, s.state, s.remedy
FROM (
    SELECT g.cluster, g.target_id, t.name AS target, g.server,
        jsonb_object_agg(g.name, g.value) FILTER (WHERE g.labels = jsonb '{}') AS value,
        jsonb_object_agg(g.name, g.since) FILTER (WHERE g.labels = jsonb '{}') AS since,
        jsonb_object_agg(g.labels ->> 'reader', g.value) FILTER (WHERE g.name = 'changelog_idle' AND g.value >= 604800) AS idle,
        jsonb_object_agg(g.labels ->> 'reader', g.value) FILTER (WHERE g.name = 'changelog_behind') AS behind
    FROM jobstats.sample_series g
    LEFT JOIN jobstats.targets t ON t.target_id = g.target_id
    -- A server can have many series of exporters.
    WHERE g."time" > now() - interval '1 day' AND t.retired IS NULL AND g.name IN (
        'kbytestotal', 'kbytesfree', 'kbytesavail', 'filestotal', 'filesfree', 'unhealthy', 'recovering', 'changelog_idle', 'changelog_behind')
    GROUP BY g.cluster, g.target_id, t.name, g.server
) g
CROSS JOIN LATERAL (
    SELECT coalesce((g.value ->> 'kbytestotal')::numeric - (g.value ->> 'kbytesfree')::numeric, 0) AS used_space,
        (g.value ->> 'kbytesavail')::numeric AS avail,
        coalesce((g.value ->> 'filestotal')::numeric - (g.value ->> 'filesfree')::numeric, 0) AS used_inodes,
        (g.value ->> 'filestotal')::numeric AS inodes
) n
CROSS JOIN LATERAL (
    SELECT 'full' AS state, format(
        '%s has used %s %% of its %s. SELECT * FROM jobstats_space(filter => ''target=%1$s''); shows who uses it; move or delete files.',
        g.target, trunc(100 * f.part), f.what) AS remedy
    FROM (VALUES ('space', n.used_space / nullif(n.used_space + n.avail, 0)), ('inodes', n.used_inodes / nullif(n.inodes, 0))) AS f (what, part)
    WHERE f.part >= 0.95
    UNION ALL
    SELECT 'unhealthy' AS state, format('%s reports an unhealthy device (health_check) since %s. Look at its kernel log.',
        g.server, date_trunc('second', (g.since ->> 'unhealthy')::timestamptz)) AS remedy
    WHERE (g.value ->> 'unhealthy')::numeric > 0
    UNION ALL
    SELECT 'recovery' AS state, format('%s has been in recovery on %s since %s: it waits for clients that were connected before. lctl get_param *.%1$s.recovery_status on the server shows how many are missing, and lctl --device %1$s abort_recovery ends it.',
        g.target, g.server, date_trunc('second', (g.since ->> 'recovering')::timestamptz)) AS remedy
    WHERE (g.value ->> 'recovering')::numeric > 0 AND (g.since ->> 'recovering')::timestamptz < now() - interval '15 minutes'
    UNION ALL
    SELECT 'changelog' AS state, format('%s of the changelog of %s has been idle for %s days%s, which fills the target. Restart its reader, or on %s: lctl --device %2$s changelog_deregister %1$s',
        r.reader, g.target, trunc(r.idle::numeric / 86400), ' and is ' || (g.behind ->> r.reader) || ' records behind', g.server) AS remedy
    FROM jsonb_each_text(g.idle) AS r (reader, idle)
    WHERE (g.behind ->> r.reader) IS DISTINCT FROM '0'
) s
