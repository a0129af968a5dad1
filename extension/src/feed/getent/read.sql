-- The stored names of numbers that change with a text, in order, or one row without a name. $4 is 0:00 UTC of the day of the
-- text. Names from accounting do not count.
SELECT said.place - 1 AS place, run.name, run.gid,
    CASE WHEN isfinite(run.since) THEN (extract(epoch FROM run.since) * 1000000)::bigint END AS since,
    CASE WHEN isfinite(run.seen) THEN (extract(epoch FROM run.seen) * 1000000)::bigint END AS seen
FROM unnest($1::bigint[], $2::text[], $3::bigint[]) WITH ORDINALITY AS said (number, name, gid, place)
LEFT JOIN jobstats.@table@ known ON known.@number@ = said.number AND known.source = text 'getent'
LEFT JOIN LATERAL (
    SELECT earlier.@name@ AS name, @earlier_gid@ AS gid, earlier.since, earlier.seen
    FROM jobstats.earlier_@table@ earlier
    WHERE earlier.@number@ = known.@number@
    UNION ALL
    SELECT known.@name@, @known_gid@, known.since, known.seen WHERE known.@number@ IS NOT NULL
) run ON true
WHERE (known.@name@ = said.name AND @known_gid@ IS NOT DISTINCT FROM said.gid AND known.since <= $4 AND known.seen >= $4) IS NOT TRUE
ORDER BY said.place, run.since
