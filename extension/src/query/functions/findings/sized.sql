-- The reads and the writes of each group whose size is known, and those of them that are small.
WITH increment AS NOT MATERIALIZED (
    @usage@
),
part AS (
    @part@
),
sizes AS (
    SELECT 1 AS step, part.read, part.small_read, part.write, part.small_write@dimensions@
    FROM part
    JOIN jobstats.targets target ON target.target_id = part.target_id
    LEFT JOIN jobstats.entries entry ON entry.entry_id = part.entry_id
    @jobs@@user_names@
    WHERE (part.read > 0 OR part.write > 0)@conditions@
)
SELECT nullif(sum(sizes.read), 0)::double precision, coalesce(sum(sizes.small_read), 0)::double precision,
    nullif(sum(sizes.write), 0)::double precision, coalesce(sum(sizes.small_write), 0)::double precision@values@
FROM sizes
GROUP BY sizes.step@of_group@
