-- The readings of services of a server ($1, $2) before and after those of a text ($3), the former at most $4 microseconds before, and
-- whether there is one of the same time.
SELECT EXISTS (
        SELECT FROM jobstats.server_readings same
        WHERE same.cluster = $1 AND same.server = $2 AND same.service = said.service AND same."time" = said."time") AS is_known,
    earlier.stored::text AS before, later.stored::text AS next
FROM (
    SELECT said.position, said.reading ->> 'service' AS service,
        timestamptz 'epoch' + (said.reading ->> 'time')::bigint * interval '1 microsecond' AS "time"
    FROM jsonb_array_elements($3::jsonb) WITH ORDINALITY AS said (reading, position)
) said
LEFT JOIN LATERAL (
    SELECT jsonb_build_object('time', (extract(epoch FROM reading."time") * 1000000)::bigint, 'sums', reading.sums) AS stored
    FROM jobstats.server_readings reading
    WHERE reading.cluster = $1 AND reading.server = $2 AND reading.service = said.service
        AND reading."time" < said."time" AND reading."time" >= said."time" - $4 * interval '1 microsecond'
    ORDER BY reading."time" DESC LIMIT 1
) earlier ON true
LEFT JOIN LATERAL (
    SELECT jsonb_build_object('time', (extract(epoch FROM reading."time") * 1000000)::bigint, 'sums', reading.sums,
        'since', (extract(epoch FROM reading.since) * 1000000)::bigint) AS stored
    FROM jobstats.server_readings reading
    WHERE reading.cluster = $1 AND reading.server = $2 AND reading.service = said.service AND reading."time" > said."time"
    ORDER BY reading."time" LIMIT 1
) later ON true
ORDER BY said.position
