CREATE OR REPLACE VIEW jobstats.@view@ AS
SELECT summed.bucket - interval '1 microsecond' AS since, summed.bucket + (interval '10 minutes' - interval '1 microsecond') AS until, summed.bucket,
    target.cluster, target.filesystem, target.kind, target.name AS target, summed.uid, person.user_name@rates@
FROM @sums@ summed
LEFT JOIN jobstats.targets target ON target.target_id = summed.target_id
LEFT JOIN jobstats.users person ON person.uid = summed.uid
-- The newest bucket of a target ends at its last observation.
CROSS JOIN LATERAL (
    SELECT extract(epoch FROM least(target.last_observation, summed.bucket + (interval '10 minutes' - interval '1 microsecond'))
        - (summed.bucket - interval '1 microsecond'))::double precision AS seconds
) width
