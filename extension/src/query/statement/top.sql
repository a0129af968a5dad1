-- The groups with the largest totals, each with its share in the total of all groups.
SELECT *
FROM (
    SELECT groups.*, groups.amount_0 AS amount, (groups.total_0 / nullif(sum(groups.total_0) OVER (), 0))::double precision AS share
    FROM (
        @groups@
    ) groups
    WHERE groups.total_0 <> 0
) groups
WHERE @min_rate@::double precision IS NULL OR groups.rate_0 >= @min_rate@
ORDER BY @order@
LIMIT least(@n@::bigint, @limit@)
