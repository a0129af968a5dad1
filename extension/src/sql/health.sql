CREATE OR REPLACE VIEW jobstats.health AS
WITH pace AS (
@pace@
),
-- Per target: how many identifiers were active within the hour, and those that match no format.
ids AS (
    SELECT a.target_id, count(*) AS active,
        array_agg(e.name ORDER BY e.name) FILTER (WHERE e.status = 'malformed') AS malformed
    FROM (
        SELECT DISTINCT i.target_id, i.entry_id FROM jobstats.increments i
        WHERE i."time" > now() - interval '1 hour'
    ) a
    JOIN jobstats.entries e ON e.entry_id = a.entry_id
    GROUP BY a.target_id
),
-- A text without a target's name is laid to the charge of all targets of its server. Text of a writer that may not feed the
-- target says nothing of the target itself.
rejected AS (
    SELECT t.target_id, bool_or(r.reason <> 'not yours') AS unusable, bool_or(r.reason = 'clock') AS by_clock,
        string_agg(DISTINCT r.server, ', ') FILTER (WHERE r.reason = 'clock' AND r.server <> p.server) AS elsewhere,
        string_agg(DISTINCT r.server, ', ') FILTER (WHERE r.reason = 'not yours') AS not_theirs
    FROM jobstats.rejects r
    JOIN jobstats.targets t ON t.cluster = r.cluster
    JOIN pace p ON p.target_id = t.target_id
    WHERE r.received > now() - interval '1 hour' AND (r.target = t.name OR r.target IS NULL AND r.server = p.server)
    GROUP BY t.target_id
),
-- Targets that went from one server to another and back within the hour.
contested AS (
    SELECT o.target_id, string_agg(DISTINCT o.server, ', ') AS servers
    FROM (
        SELECT o.target_id, o.server, lag(o.server) OVER (PARTITION BY o.target_id ORDER BY o."time") AS before
        FROM jobstats.observations o
        WHERE o."time" > now() - interval '1 hour'
    ) o
    GROUP BY o.target_id
    HAVING count(*) FILTER (WHERE o.server <> o.before) > 1
),
state AS (
    SELECT t.target_id, t.cluster, t.name, t.kind, p.server, p.last_observation, o.received - o."time" AS delay,
        p.usual_interval, t.cleanup_interval,
        coalesce(t.cleanup_interval, interval '10 minutes') < 2 * p.usual_interval
            AND coalesce(t.cleanup_interval > interval '0', true) AS cleanup_too_short,
        i.malformed, r.elsewhere, r.not_theirs, c.servers AS contested,
        CASE
            WHEN p.silent THEN 'silent'
            WHEN coalesce(r.by_clock, false) OR o."time" > o.received + interval '10 seconds' THEN 'clock'
            WHEN now() - p.last_observation > 2 * p.usual_interval OR o.received - o."time" > p.usual_interval THEN 'late'
            WHEN 2 * o.duration > p.usual_interval THEN 'slow'
            WHEN r.unusable THEN 'rejects'
            WHEN 2 * cardinality(i.malformed) > i.active THEN 'ids'
            ELSE 'ok'
        END AS status
    FROM jobstats.targets t
    JOIN pace p ON p.target_id = t.target_id
    JOIN jobstats.observations o ON o.target_id = t.target_id AND o."time" = p.last_observation
    LEFT JOIN ids i ON i.target_id = t.target_id
    LEFT JOIN rejected r ON r.target_id = t.target_id
    LEFT JOIN contested c ON c.target_id = t.target_id
)
SELECT s.cluster, s.name AS target, s.kind, s.server, s.status, s.last_observation, s.delay, s.usual_interval,
    s.cleanup_interval, coalesce(s.cleanup_too_short, false) AS cleanup_too_short,
    nullif(concat_ws(' ',
        CASE s.status
            WHEN 'silent' THEN format('Nothing comes any more: see whether the shipper on %s runs and reaches this database.', s.server)
            WHEN 'clock' THEN CASE
                WHEN s.elsewhere IS NULL THEN format('The clock of %s, or of this machine, is wrong: see that both follow NTP, then jobstats.rejects.', s.server)
                ELSE format('Text of %s was rejected by its time, while %s feeds the target: see which of them serves it, and that their clocks follow NTP.', s.elsewhere, s.server)
            END
            WHEN 'late' THEN format('Texts come late: see what the shipper on %s says, and how busy this database is.', s.server)
            WHEN 'slow' THEN format('Reading it takes over half of the interval: lengthen the interval of the shipper on %s.', s.server)
            WHEN 'rejects' THEN format('Some of its text could not be used: SELECT * FROM jobstats.rejects WHERE server = %L ORDER BY received DESC;', s.server)
            WHEN 'ids' THEN @extschema@.jobstats_ids_remedy(s.malformed)
        END,
        CASE WHEN s.cleanup_too_short THEN format(
            'Entries may go before they are read: lctl set_param %s.%s.job_cleanup_interval=%s, or more.',
            CASE s.kind WHEN 'MDT' THEN 'mdt' ELSE 'obdfilter' END, s.name,
            ceil(2 * extract(epoch FROM s.usual_interval)))
        END,
        CASE WHEN s.contested IS NOT NULL THEN format(
            'It went back and forth between servers (%s) within the last hour: see which of them serves it, and who may feed it (jobstats.writers).',
            s.contested)
        END,
        CASE WHEN s.not_theirs IS NOT NULL THEN format(
            'Text that %s sent of it was not taken, because the sender may not feed it: see jobstats.writers.', s.not_theirs)
        END), '') AS remedy
FROM state s
UNION ALL
-- The store itself, where its maintenance needs care.
SELECT NULL, NULL, NULL, NULL, 'maintenance', NULL, NULL, NULL, NULL, NULL,
    CASE
        WHEN m.completed > now() - interval '1 hour' THEN format('The last maintenance had a problem: %s.', m.problem)
        ELSE format('Maintenance has not been completed since %s: see whether what is to call jobstats_maintain() does so, and what that says.',
            coalesce(date_trunc('second', m.completed)::text, 'the store was made'))
    END
FROM (
    SELECT max(m.began + m.took) AS completed, (array_agg(m.problem ORDER BY m.began DESC))[1] AS problem
    FROM jobstats.maintenance m WHERE m.step = 'all'
) m
WHERE m.problem IS NOT NULL AND m.completed > now() - interval '1 hour'
    OR coalesce(m.completed, '-infinity') <= now() - interval '1 hour'
        AND EXISTS (SELECT FROM jobstats.observations o WHERE o.received < now() - interval '1 hour');
