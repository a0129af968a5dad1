-- For each target with an observation in @last@ (target_id, "time"): its server and start, the last intervals between its observations and
-- the usual one, and whether it is late or even silent now. Only the day before that observation is read, and only from a time known to
-- the planner on (@since@); otherwise every partition would be searched for a target that is long gone.
SELECT l.target_id, p.server, p.since, l."time" AS last_observation, p.received, p.duration, p.usual_interval, p.intervals,
    now() - l."time" > greatest(3 * p.usual_interval, interval '10 minutes') AS silent,
    coalesce(now() - l."time" > 2 * p.usual_interval, false) AS late
FROM @last@ l
CROSS JOIN LATERAL (
    SELECT (array_agg(o.server ORDER BY o."time" DESC))[1] AS server,
        (array_agg(o.since ORDER BY o."time" DESC))[1] AS since,
        (array_agg(o.received ORDER BY o."time" DESC))[1] AS received,
        (array_agg(o.duration ORDER BY o."time" DESC))[1] AS duration,
        -- Readings begin some microseconds early or late.
        date_trunc('second', percentile_disc(0.5) WITHIN GROUP (ORDER BY o."time" - o.since) + interval '0.5 seconds') AS usual_interval,
        coalesce(array_agg(o."time" - o.since) FILTER (WHERE o.since IS NOT NULL), '{}') AS intervals
    FROM (
        SELECT o."time", o.since, o.server, o.received, o.duration FROM jobstats.observations o
        WHERE o.target_id = l.target_id AND o."time" > l."time" - interval '1 day' AND o."time" <= l."time" AND o."time" > @since@
        ORDER BY o."time" DESC LIMIT 10
    ) o
    HAVING count(*) > 0
) p
