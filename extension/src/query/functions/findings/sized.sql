-- The reads and the writes of each group whose size is known, and those of them that are small.
SELECT (sum(sizes.count) FILTER (WHERE sizes.operation = text 'read_bytes'))::double precision,
    (coalesce(sum(sizes.count) FILTER (WHERE sizes.operation = text 'read_bytes' AND sizes.upper <= @small@), 0))::double precision,
    (sum(sizes.count) FILTER (WHERE sizes.operation = text 'write_bytes'))::double precision,
    (coalesce(sum(sizes.count) FILTER (WHERE sizes.operation = text 'write_bytes' AND sizes.upper <= @small@), 0))::double precision@values@
FROM (
    @sizes@
) sizes
WHERE sizes.known_from = text 'histogram'
GROUP BY sizes.known_from@of_group@
