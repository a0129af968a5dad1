-- Health of every target, what feeds have counted, and how many rejects came within the last hour.
SELECT t.target_id, t.cluster, coalesce(t.filesystem, '') AS filesystem, t.name, t.kind, h.status,
    extract(epoch FROM h.last_observation)::double precision AS last_observation,
    extract(epoch FROM h.delay)::double precision AS delay,
    extract(epoch FROM h.usual_interval)::double precision AS usual_interval,
    coalesce(r.rejects, 0)::double precision AS rejects, t.observations_total::double precision AS observations,
    t.text_bytes_total::double precision AS text_bytes, t.problems_total::double precision AS problems
FROM jobstats.health h
JOIN jobstats.targets t ON t.cluster = h.cluster AND t.name = h.target
LEFT JOIN (
    SELECT r.cluster, r.target, count(*) AS rejects FROM jobstats.rejects r
    WHERE r.received > now() - interval '1 hour'
    GROUP BY r.cluster, r.target
) r ON r.cluster = t.cluster AND r.target = t.name
ORDER BY t.cluster, t.name
