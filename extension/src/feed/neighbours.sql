-- The readings before, at and after times ($2), each of a key ($3), in order. Those before are not before $1, a value that PostgreSQL knows
-- before it opens partitions.
SELECT said.position, near."time", near.since, @columns@
FROM unnest($2::timestamptz[], $3::@type@[]) WITH ORDINALITY AS said ("time", key, position)
CROSS JOIN LATERAL (
    (
        SELECT r.* FROM jobstats.@table@ r
        WHERE @key@ = said.key AND r."time" < said."time" AND r."time" >= $1 ORDER BY r."time" DESC LIMIT 1
    ) UNION ALL (
        SELECT r.* FROM jobstats.@table@ r
        WHERE @key@ = said.key AND r."time" >= said."time" AND r."time" >= $1 ORDER BY r."time" LIMIT 2
    )
) near
ORDER BY said.position, near."time"
