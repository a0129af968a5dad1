-- Deletes rows, which stay at their places while the feed holds the lock on jobs.
DELETE FROM jobstats.jobs WHERE ctid = ANY ($1::text[]::tid[])
