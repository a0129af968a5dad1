-- Which targets of those asked for have said within a day what owners of a kind (@kind@) use, and which have not.
SELECT count(*) FILTER (WHERE list.is_read) AS read,
    coalesce(array_agg(target.name ORDER BY target.name) FILTER (WHERE NOT list.is_read), '{}') AS missing
FROM jobstats.targets target
CROSS JOIN LATERAL (
    SELECT EXISTS (
        SELECT FROM jobstats.used_lists used
        WHERE used.target_id = target.target_id AND used.kind = @kind@ AND used.last > now() - interval '1 day') AS is_read
) list
WHERE target.retired IS NULL@of_targets@
