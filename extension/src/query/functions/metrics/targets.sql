-- Health of every target, and what of the last hour could not be used.
SELECT t.target_id, t.cluster, coalesce(t.filesystem, '') AS filesystem, t.name, t.kind, h.status,
    extract(epoch FROM h.last_observation)::double precision AS last_observation,
    extract(epoch FROM h.delay)::double precision AS delay,
    extract(epoch FROM h.usual_interval)::double precision AS usual_interval,
    coalesce(r.rejects, 0)::double precision AS rejects, coalesce(p.problems, 0)::double precision AS problems
FROM jobstats.health h
JOIN jobstats.targets t ON t.cluster = h.cluster AND t.name = h.target
LEFT JOIN (
    SELECT r.cluster, r.target, count(*) AS rejects FROM jobstats.rejects r
    WHERE r.received > now() - interval '1 hour'
    GROUP BY r.cluster, r.target
) r ON r.cluster = t.cluster AND r.target = t.name
LEFT JOIN (
    SELECT o.target_id, sum(o.problems) AS problems FROM jobstats.observations o
    WHERE o."time" > now() - interval '1 hour'
    GROUP BY o.target_id
) p ON p.target_id = t.target_id
ORDER BY t.cluster, t.name
