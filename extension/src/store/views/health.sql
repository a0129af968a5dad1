CREATE OR REPLACE VIEW jobstats.health AS
SELECT h.cluster, h.target, h.kind, h.server, h.states, h.last_observation, h.delay, h.usual_interval, h.cleanup_interval,
    jobstats_internal.escaped(h.remedy) AS remedy, h.missed
-- A NULL without a type would lose its name in a dump: the restored view would be another one.
FROM (
WITH pace AS MATERIALIZED (
@pace_of_a_day@
UNION ALL
-- Of other targets no interval is shown, and old partitions are not opened.
SELECT t.target_id, t.server, NULL::timestamptz, t.last_observation, t.received, NULL::interval, NULL::interval, '{}'::interval[], true, false
FROM jobstats.targets t
JOIN jobstats.refresh r ON t.last_observation > r.dropped
WHERE t.last_observation <= now() - interval '1 day'
),
-- The number of active identifiers of each target within the hour, and how many of them match no format.
ids AS (
    SELECT a.target_id, count(*) AS active,
        array_agg(e.name ORDER BY e.name) FILTER (WHERE e.status = 'malformed') AS malformed
    FROM (
        SELECT DISTINCT i.target_id, i.entry_id FROM jobstats.increments i
        WHERE i."time" > now() - interval '1 hour' AND i."time" > jobstats_internal.planned_ago(interval '1 hour')
    ) a
    JOIN jobstats.entries e ON e.entry_id = a.entry_id
    GROUP BY a.target_id
),
-- Text without a target counts against all targets of its server. Text of a writer without the right to feed the target does not
-- count against it.
rejected AS (
    SELECT t.target_id, bool_or(r.reason NOT IN ('not yours', 'clock')) AS unusable, bool_or(r.reason = 'clock') AS by_clock,
        string_agg(DISTINCT r.server, ', ') FILTER (WHERE r.reason = 'clock' AND r.server <> p.server) AS elsewhere,
        string_agg(DISTINCT r.server, ', ') FILTER (WHERE r.reason = 'not yours') AS not_theirs
    FROM jobstats.rejects r
    JOIN jobstats.targets t ON t.cluster = r.cluster
    JOIN pace p ON p.target_id = t.target_id
    WHERE r.received > now() - interval '1 hour' AND (r.target = t.name OR r.target IS NULL AND r.server = p.server)
        AND r.reason <> 'guessable delimiter'
    GROUP BY t.target_id
),
of_hour AS MATERIALIZED (
    SELECT o.target_id, o."time", o.since, o.server, o."time" - o.since AS elapsed
    FROM jobstats.observations o
    WHERE o."time" > now() - interval '1 hour' AND o."time" > jobstats_internal.planned_ago(interval '1 hour')
),
-- Targets that moved from one server to another and back within the hour.
contested AS (
    SELECT o.target_id, string_agg(DISTINCT o.server, ', ') AS servers
    FROM (
        SELECT o.target_id, o.server, lag(o.server) OVER (PARTITION BY o.target_id ORDER BY o."time") AS before
        FROM of_hour o
    ) o
    GROUP BY o.target_id
    HAVING count(*) FILTER (WHERE o.server <> o.before) > 1
),
-- The latest gap in the observations of each target that ended within the hour. It is as long as a target is silent after.
gap AS (
    SELECT o.target_id, max(o.since) AS since, max(o."time") AS "time"
    FROM of_hour o
    JOIN pace p ON p.target_id = o.target_id
    WHERE o.elapsed > greatest(3 * p.usual_interval, interval '10 minutes')
    GROUP BY o.target_id
),
-- The missing readings of all gaps that ended within the hour.
missed AS MATERIALIZED (
@missed@
),
reported AS MATERIALIZED (
@of_lustre@),
-- Without observations a target is known by what its server reports; a retired target without rows is only a name.
known AS (
    SELECT t.target_id, t.cluster, t.name, t.kind, t.retired, t.cleanup_interval, coalesce(p.server, f.server) AS server, p.received, p.usual_interval,
        coalesce(p.last_observation, t.last_observation) AS last_observation,
        t.last_observation IS NOT NULL AND (p.target_id IS NULL OR p.silent) AS silent,
        p.late OR p.received - p.last_observation > p.usual_interval AS late,
        2 * p.duration > p.usual_interval AS slow,
        r.by_clock OR p.last_observation > p.received + interval '10 seconds' AS by_clock,
        coalesce(t.cleanup_interval, interval '10 minutes') < 2 * p.usual_interval
            AND coalesce(t.cleanup_interval > interval '0', true) AS cleanup_too_short,
        r.unusable, r.elsewhere, r.not_theirs, c.servers AS contested, g.since AS gap_since, g."time" AS gap_until, m.missed,
        CASE WHEN 2 * cardinality(i.malformed) > i.active THEN i.malformed END AS malformed
    FROM jobstats.targets t
    LEFT JOIN pace p ON p.target_id = t.target_id
    LEFT JOIN ids i ON i.target_id = t.target_id
    LEFT JOIN rejected r ON r.target_id = t.target_id
    LEFT JOIN contested c ON c.target_id = t.target_id
    LEFT JOIN gap g ON g.target_id = t.target_id
    LEFT JOIN missed m ON m.target_id = t.target_id
    LEFT JOIN (SELECT r.target_id, max(r.server) AS server FROM reported r GROUP BY r.target_id) f ON f.target_id = t.target_id
    WHERE p.target_id IS NOT NULL OR t.retired IS NULL AND (t.last_observation IS NOT NULL OR f.target_id IS NOT NULL)
)
SELECT k.cluster, k.name AS target, k.kind, k.server,
    CASE WHEN k.retired IS NULL THEN coalesce(s.states, '{ok}') ELSE '{retired}' END AS states,
    k.last_observation, k.received - k.last_observation AS delay, k.usual_interval, k.cleanup_interval, s.remedy, k.missed
FROM known k
LEFT JOIN LATERAL (
    SELECT array_agg(s.state ORDER BY s.place, s.state) FILTER (WHERE s.state IS NOT NULL) AS states,
        string_agg(s.remedy, ' ' ORDER BY s.place, s.state) AS remedy
    FROM (
        -- Two servers may report the same.
        SELECT min(s.place) AS place, s.state, string_agg(DISTINCT s.remedy, ' ') AS remedy
        FROM (
            VALUES
                (1, k.silent, 'silent', format(CASE
                    WHEN k.received > now() - greatest(3 * k.usual_interval, interval '10 minutes')
                        THEN 'The newest text was read long before it arrived. The shipper on %s is sending a backlog, or its clock or that of this machine is wrong.'
                    ELSE 'No texts arrive. Check that the shipper on %s runs and can reach this database.'
                END, coalesce(k.server, 'its server'))),
                (2, k.by_clock, 'clock', CASE
                    WHEN k.elsewhere IS NULL THEN format('The clock of %s or of this machine is wrong. Check that NTP works on both, then look at jobstats.rejects.', k.server)
                    ELSE format('Text from %s was rejected because of its time, while %s feeds the target. Check which of them serves the target, and that NTP works on both.', k.elsewhere, k.server)
                END),
                (3, k.late AND NOT k.silent, 'late', format('Texts arrive late. Check the log of the shipper on %s, the load of this database, and the clocks of both.', k.server)),
                (4, k.slow AND NOT k.silent, 'slow', format('Reading the target takes more than half of the interval. Set a longer interval for the shipper on %s.', k.server)),
                (5, k.unusable, 'rejects', format('Some text of this target could not be used. To see why: SELECT * FROM jobstats.rejects WHERE server = %L ORDER BY received DESC;', k.server)),
                (6, k.malformed IS NOT NULL, 'ids', jobstats_internal.ids_remedy(k.malformed)),
                (7, k.cleanup_too_short, 'cleanup',
                    format('Lustre may drop entries before they are read. Run lctl set_param %s.%s.job_cleanup_interval=%s (or more).',
                        CASE k.kind WHEN 'MDT' THEN 'mdt' ELSE 'obdfilter' END, k.name, ceil(2 * extract(epoch FROM k.usual_interval)))),
                (8, k.contested IS NOT NULL, 'contested', format('The target moved back and forth between servers (%s) in the last hour. Check which of them serves it, and who may feed it (jobstats.writers).', k.contested)),
                (9, k.gap_until IS NOT NULL OR k.missed > 0, 'gap', CASE
                    WHEN k.gap_until IS NOT NULL THEN format(
                        'No snapshot was taken from %s to %s, so rates in this time are averages. Check whether the shipper on %s or this database was down.',
                        date_trunc('second', k.gap_since), date_trunc('second', k.gap_until), k.server)
                    ELSE format(
                        'In the last hour %s missing, so rates there are averages over longer times. Check the log of the shipper on %s and whether this database was down.',
                        CASE k.missed WHEN 1 THEN 'one reading is' ELSE k.missed || ' readings are' END, k.server)
                END),
                -- A sender without the right cannot change the states of a target.
                (10, k.not_theirs IS NOT NULL, NULL, format('Text that %s sent for this target was rejected, because the sender may not feed it. See jobstats.writers.', k.not_theirs))
            UNION ALL
            SELECT 11, true, r.state, r.remedy FROM reported r WHERE r.target_id = k.target_id
        ) s (place, holds, state, remedy)
        WHERE s.holds
        GROUP BY s.state
    ) s
) s ON k.retired IS NULL
UNION ALL
-- Expected targets and servers that have never reported. An expected server without targets has reported if a target was last
-- read there, or was read there within the hour.
SELECT e.cluster, e.target, NULL::text, e.server, '{silent}'::text[], NULL::timestamptz, NULL::interval, NULL::interval, NULL::interval,
    format('No text has arrived yet. Check that the shipper on %s runs and can reach this database, and that the names in jobstats.expected are right.',
        coalesce(e.server, 'its server')), NULL::bigint
FROM jobstats.expected e
WHERE NOT EXISTS (
        SELECT FROM jobstats.targets t
        LEFT JOIN pace p ON p.target_id = t.target_id
        WHERE t.cluster = e.cluster
            AND CASE
                WHEN e.target IS NULL THEN p.server = e.server
                ELSE t.name = e.target AND coalesce(p.last_observation, t.last_observation, t.retired) IS NOT NULL
            END)
    AND NOT EXISTS (
        SELECT FROM of_hour o
        JOIN jobstats.targets t ON t.target_id = o.target_id
        WHERE e.target IS NULL AND t.cluster = e.cluster AND o.server = e.server)
UNION ALL
SELECT o.cluster, o.target, o.kind, o.server, ARRAY[o.state], NULL::timestamptz, NULL::interval, NULL::interval, NULL::interval, o.remedy, NULL::bigint
FROM (
-- Text of the last hour without a known target. Only the servers with most of it are shown, since a writer may name any number. Text
-- of a writer without the right to feed it does not count.
(SELECT r.cluster, NULL::text, NULL::text, r.server, text 'rejects',
    format('Text of this server was rejected (%s), and belongs to no known target: SELECT * FROM jobstats.rejects WHERE server = %L ORDER BY received DESC;',
        string_agg(DISTINCT r.reason, ', '), r.server)
FROM jobstats.rejects r
WHERE r.received > now() - interval '1 hour' AND r.reason NOT IN ('not yours', 'guessable delimiter')
    AND NOT EXISTS (SELECT FROM jobstats.targets t WHERE t.cluster = r.cluster AND t.name = r.target)
    AND NOT EXISTS (SELECT FROM pace p JOIN jobstats.targets t ON t.target_id = p.target_id
        WHERE r.target IS NULL AND t.cluster = r.cluster AND p.server = r.server)
GROUP BY r.cluster, r.server
ORDER BY count(*) DESC, r.cluster, r.server
LIMIT 10)
UNION ALL
-- Requests that clients sent without an identifier.
SELECT u.cluster, NULL::text, NULL::text, NULL::text, text 'ids',
    format('%s %% of the requests to %s from %s to %s had no identifier, so their job and user are unknown: the clients have jobid_var=disable, or Lustre before 2.10. To see them: SELECT * FROM jobstats_untracked(%L, %L%s);',
        u.percent, coalesce(u.filesystem, 'targets'), to_char(u.until - interval '1 hour', 'HH24:MI'), to_char(u.until, 'HH24:MI'),
        u.until - interval '1 hour', u.until, ', filter => ''filesystem=' || nullif(u.filesystem, '') || '''')
FROM (
@unaccounted@
) u
UNION ALL
-- Problems of the store: of the last maintenance, and of one that is running or ended early.
SELECT NULL::text, NULL::text, NULL::text, NULL::text, text 'maintenance',
    concat_ws(' ',
        'The last maintenance had a problem: ' || m.problem || '.',
        CASE WHEN m.is_overdue THEN format(
            'Maintenance has not been completed since %s. Check that the scheduled job that calls jobstats_maintain() runs, and what it reports.',
            coalesce(date_trunc('second', m.completed)::text, 'the store was created')) END)
FROM jobstats.maintenance_state m
WHERE m.problem IS NOT NULL OR m.is_overdue
UNION ALL
-- jobstats_detect() is not called, although there are readings.
SELECT NULL::text, NULL::text, NULL::text, NULL::text, text 'maintenance',
    format('Events have been detected up to %s only. Check that the scheduled job that calls jobstats_detect() or jobstats_maintain() runs, and what it reports.',
        date_trunc('second', w.watched_until))
FROM jobstats.watch w
WHERE w.ran < now() - interval '15 minutes'
    AND w.watched_until < (SELECT max(t.last_observation) FROM jobstats.targets t WHERE t.retired IS NULL) - interval '15 minutes'
UNION ALL
-- Changed formats. Keys of entries are hashes, so the last key shows the progress.
SELECT NULL::text, NULL::text, NULL::text, NULL::text, text 'maintenance',
    format('Identifiers are being matched again with the formats in jobstats.entry_formats: %s %% are done, and maintenance continues. To finish it at once: SELECT jobstats_reidentify();',
        CASE WHEN i.under_way = f.formats AND i.after IS NOT NULL THEN trunc((i.after + 9223372036854775808) / 184467440737095516.16) ELSE 0 END)
FROM jobstats.identification i
CROSS JOIN (@configured@) f
WHERE i.formats IS DISTINCT FROM f.formats
UNION ALL
-- Accounting that has stopped: entries of new jobs have no job. A file does not grow while no job ends.
SELECT c.cluster, NULL::text, NULL::text, NULL::text, text 'accounting',
    format('The accounting of %s has been read up to %s only, so I/O since then belongs to no job. Check the shipper that reads it.',
        c.source, date_trunc('second', c.until))
FROM (SELECT d.cluster, d.source, max(d.until) AS until FROM jobstats.covered d GROUP BY d.cluster, d.source) c
WHERE c.until < now() - CASE WHEN c.source IN (@commands@) THEN interval '1 hour' ELSE interval '1 day' END
UNION ALL
-- Accounting in which users can write rows of others.
(SELECT r.cluster, NULL::text, NULL::text, r.server, text 'accounting',
    format('Users can forge rows of the accounting of %s through job names: its delimiter is a single typeable character. Use a --delimiter of sacct that users cannot guess.',
        r.server)
FROM jobstats.rejects r
WHERE r.received > now() - interval '1 hour' AND r.reason = 'guessable delimiter'
GROUP BY r.cluster, r.server
ORDER BY r.cluster, r.server
LIMIT 10)
UNION ALL
-- What servers report about themselves.
SELECT r.cluster, NULL::text, NULL::text, r.server, r.state, r.remedy
FROM reported r
WHERE r.target_id IS NULL
UNION ALL
-- Advice of maintenance on identifiers and their jobs. Overdue maintenance has a separate row.
SELECT a.cluster, NULL::text, NULL::text, NULL::text,
    CASE WHEN a.status IN ('known', 'without job') THEN 'nodes' WHEN a.status = 'swapped' THEN 'ids' ELSE 'accounting' END, a.remedy
FROM jobstats.advice a
WHERE a.noted > now() - interval '1 hour'
UNION ALL
-- A session that holds the locks of a feed for long keeps other feeds and maintenance waiting.
SELECT NULL::text, NULL::text, NULL::text, NULL::text, text 'maintenance',
    format('Session %s of role %I has held the locks of a feed since %s and is %s. To end it: SELECT pg_terminate_backend(%1$s);',
        f.pid, f.role, date_trunc('second', f.since), CASE WHEN f.idle_since IS NULL THEN 'running a statement' ELSE 'idle' END)
FROM jobstats_internal.feeding() f
WHERE coalesce(f.idle_since, f.since) < now() - interval '1 minute'
UNION ALL
SELECT NULL::text, NULL::text, NULL::text, NULL::text, text 'maintenance',
    format('The store is damaged: %s. SELECT jobstats_setup(); repairs it or reports what to do.', d.damage)
FROM (SELECT jobstats_internal.damage_in_words() AS damage) d
WHERE d.damage IS NOT NULL
) o (cluster, target, kind, server, state, remedy)
) h;
