-- The rows of increments with the names of columns that the views of rollups have, so that a statement reads either.
CREATE OR REPLACE VIEW jobstats.increments_rows AS
SELECT increment.since, increment."time" AS until, increment.observed, increment.entry_id, increment.target_id, increment.last_active,
    increment.reset::integer::bigint AS resets, @columns@
FROM jobstats.increments increment
