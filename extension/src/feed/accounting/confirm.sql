-- Notes that a later text repeats rows. Only their time changes, which is in no index, so that no index is written.
UPDATE jobstats.jobs SET updated = $2 WHERE ctid = ANY ($1::text[]::tid[])
