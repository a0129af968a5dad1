space AS (
    SELECT scope.cluster, scope.filesystem, CASE WHEN @by_target@ THEN scope.name END AS target, used.id, sum(used.kbytes) AS kbytes,
        sum(used.inodes) FILTER (WHERE scope.kind = 'MDT'::text) AS inodes
    FROM jobstats.used_now used
    JOIN scope ON scope.target_id = used.target_id
    WHERE used.kind = @kind@::text
    GROUP BY 1, 2, 3, 4
),
list AS MATERIALIZED (
    SELECT scope.cluster, scope.filesystem, CASE WHEN @by_target@ THEN scope.name END AS target, count(last."time") AS targets, count(*) AS of_targets,
        min(last."time") AS "time", true AS is_complete
    FROM scope
    LEFT JOIN LATERAL (
        SELECT list.last AS "time" FROM jobstats.used_lists list
        WHERE list.target_id = scope.target_id AND list.kind = @kind@::text ORDER BY list.day DESC LIMIT 1
    ) last ON true
    GROUP BY 1, 2, 3
)
