-- The time of the newest text of each scheduler's accounting.
SELECT s.scheduler, (extract(epoch FROM s.newest) * 1000000)::bigint AS newest FROM jobstats.schedulers s
