@before@day AS MATERIALIZED (
    SELECT scope.cluster, scope.filesystem, max(list.day) AS day
    FROM jobstats.used_lists list
    JOIN scope ON scope.target_id = list.target_id
    WHERE list.kind = @kind@::text AND list.summed AND list.day <= (@day@ AT TIME ZONE 'UTC'::text)::date
        AND list.day + 8 > (@day@ AT TIME ZONE 'UTC'::text)::date
    GROUP BY scope.cluster, scope.filesystem
),
@before@list AS MATERIALIZED (
    SELECT scope.cluster, scope.filesystem, NULL::text AS target, count(list.first) AS targets, count(*) AS of_targets,
        min(list.first) AS "time",
        -- A newer target was empty then.
        bool_and(list.first IS NOT NULL OR NOT EXISTS (
            SELECT FROM jobstats.used_lists older
            WHERE older.target_id = scope.target_id AND older.kind = @kind@::text AND older.day < day.day)) AS is_complete
    FROM scope
    JOIN @before@day day ON day.cluster = scope.cluster AND day.filesystem = scope.filesystem
    LEFT JOIN jobstats.used_lists list ON list.target_id = scope.target_id AND list.kind = @kind@::text AND list.day = day.day
    GROUP BY scope.cluster, scope.filesystem
),
@before@space AS (
    SELECT used.cluster, used.filesystem, NULL::text AS target, used.id, used.kbytes, used.inodes
    FROM @before@day day
    JOIN jobstats.used used ON used.day = day.day AND used.kind = @kind@::text AND used.cluster = day.cluster AND used.filesystem = day.filesystem
)
