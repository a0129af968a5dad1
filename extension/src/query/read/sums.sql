-- The rows of rows.sql, added up by target, step and entry or owner: postgres_fdw lets each node of a front add up its own.
SELECT usage.target_id@columns@@sums@
FROM jobstats.@relation@ usage
WHERE (@spans@)@of@
GROUP BY @keys@
