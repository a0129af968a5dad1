(
    -- The names that users had in the window: `named_until` is NULL for that at its end, else the end of the days of the name.
    SELECT u.uid, u.user_name, u.gid, NULL::timestamptz AS named_until
    FROM jobstats.users u
    WHERE NOT EXISTS (SELECT FROM jobstats.earlier_users e WHERE e.uid = u.uid AND e.until >= @until@)
    UNION ALL
    SELECT e.uid, e.user_name, e.gid, CASE WHEN e.until < @until@ THEN e.until END
    FROM jobstats.earlier_users e
    WHERE e.until > @since@ AND NOT EXISTS (
        SELECT FROM jobstats.earlier_users l WHERE l.uid = e.uid AND l.until >= @until@ AND l.until < e.until)
)
