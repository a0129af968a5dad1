-- The reads and writes of each group whose size is known, and those of them that are small.
SELECT sizes.operation = text 'read_bytes' AS reads, sum(sizes.count)::double precision AS sized,
    coalesce(sum(sizes.count) FILTER (WHERE sizes.upper <= @small@), 0)::double precision AS small@values@
FROM (
    @sizes@
) sizes
WHERE sizes.known_from = text 'histogram'
GROUP BY sizes.operation@of_group@
