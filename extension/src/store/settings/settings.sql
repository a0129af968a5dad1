-- The settings that feeds and questions need: intervals in microseconds, except feed_wait, which is in milliseconds.
SELECT (extract(epoch FROM s.raw_retention) * 1000000)::bigint AS raw_retention,
    (extract(epoch FROM s.max_ahead) * 1000000)::bigint AS max_ahead,
    (extract(epoch FROM s.feed_wait) * 1000)::bigint AS feed_wait,
    s.front, s.max_rate, s.keep, s.fold_uids_below, s.max_text, s.max_targets::bigint AS max_targets,
    (SELECT (extract(epoch FROM r.dropped) * 1000000)::bigint FROM jobstats.refresh r) AS kept_since
FROM jobstats.settings s
