SELECT e.uid, lag(e.until, 1, timestamptz '-infinity') OVER (PARTITION BY e.uid ORDER BY e.until) AS named_from, e.until AS named_until
    FROM jobstats.earlier_users e
    WHERE e.until > @since@ AND e.until < @until@
