-- Health of every active target, the counters of feeds, and the rejects of the last hour; of expected targets that have never
-- reported only a state. Rejects without a target are left out. Of a target on two nodes of a front, the newest observation counts.
SELECT DISTINCT ON (h.cluster, h.target, CASE WHEN t.target_id IS NULL THEN h.server END)
    t.target_id, h.cluster, coalesce(t.filesystem, '') AS filesystem, coalesce(h.target, '') AS name,
    coalesce(h.kind, '') AS kind, CASE WHEN t.target_id IS NULL THEN h.server END AS server, h.states,
    extract(epoch FROM h.last_observation)::double precision AS last_observation,
    extract(epoch FROM h.delay)::double precision AS delay,
    extract(epoch FROM h.usual_interval)::double precision AS usual_interval,
    h.missed::double precision AS missed,
    CASE WHEN t.target_id IS NOT NULL THEN coalesce(r.rejects, 0)::double precision END AS rejects,
    t.observations_total::double precision AS observations, t.text_bytes_total::double precision AS text_bytes,
    t.problems_total::double precision AS problems
FROM jobstats.health h
LEFT JOIN jobstats.targets t ON t.cluster = h.cluster AND t.name = h.target
LEFT JOIN (
    SELECT r.cluster, r.target, count(*) AS rejects FROM jobstats.rejects r
    WHERE r.received > now() - interval '1 hour'
    GROUP BY r.cluster, r.target
) r ON r.cluster = t.cluster AND r.target = t.name
WHERE NOT h.states && '{retired,node}'::text[] AND (h.target IS NOT NULL OR h.states = '{silent}'::text[])
ORDER BY h.cluster, h.target, CASE WHEN t.target_id IS NULL THEN h.server END, h.last_observation DESC NULLS LAST, t.last_observation DESC
