-- Which targets of those asked for ($1 to $3) have said within a day what owners of a kind ($4) use, and which have not.
SELECT count(*) FILTER (WHERE list.is_read) AS read,
    coalesce(array_agg(target.name ORDER BY target.name) FILTER (WHERE NOT list.is_read), '{}') AS missing
FROM jobstats.targets target
CROSS JOIN LATERAL (
    SELECT EXISTS (
        SELECT FROM jobstats.used_lists used
        WHERE used.target_id = target.target_id AND used.kind = $4 AND used.last > now() - interval '1 day') AS is_read
) list
WHERE target.retired IS NULL
    AND ($1::text[] IS NULL OR target.cluster LIKE ANY (jobstats_internal.as_like($1)))
    AND ($2::text[] IS NULL OR target.filesystem LIKE ANY (jobstats_internal.as_like($2)))
    AND ($3::text[] IS NULL OR target.name LIKE ANY (jobstats_internal.as_like($3)))
