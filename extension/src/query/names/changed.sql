-- Which names have changed since the start of a window ($1, $2].
SELECT EXISTS (SELECT FROM jobstats.earlier_users e WHERE e.until > $1) AS users,
    EXISTS (SELECT FROM jobstats.earlier_users e WHERE e.until > $1 AND e.until < $2) AS several,
    EXISTS (SELECT FROM jobstats.earlier_groups e WHERE e.until >= $2) AS groups
