(
    SELECT g.gid, g.group_name
    FROM jobstats.groups g
    WHERE NOT EXISTS (SELECT FROM jobstats.earlier_groups e WHERE e.gid = g.gid AND e.until >= @until@)
    UNION ALL
    SELECT e.gid, e.group_name
    FROM jobstats.earlier_groups e
    WHERE e.until >= @until@ AND NOT EXISTS (
        SELECT FROM jobstats.earlier_groups l WHERE l.gid = e.gid AND l.until >= @until@ AND l.until < e.until)
)
