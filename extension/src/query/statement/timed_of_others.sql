-- Whether targets report times, by all rows of all entries, where there are many targets: to look for a row of each costs less only
-- where they are few.
SELECT usage.target_id, bool_or(usage.value_0 IS NOT NULL) AS timed
FROM (
    @usage@
) usage
WHERE @are_many@
GROUP BY usage.target_id
