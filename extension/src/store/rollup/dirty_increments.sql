-- The spans of all targets are merged, and each merged span is searched once: a search per target would read the increments of
-- a span as often as there are targets in it. OFFSET 0 keeps the planner from reading all that is stored and joining it by
-- hashing.
(SELECT unnest(range_agg(@span@)) AS span FROM jobstats.dirty) whole
CROSS JOIN LATERAL (
    SELECT increment."time", increment.since, increment.last_active, increment.entry_id, increment.target_id, increment.reset@columns@
    FROM jobstats.increments increment
    WHERE increment."time" > lower(whole.span) AND increment."time" <= upper(whole.span) AND increment."time" <= @refreshed@
    OFFSET 0
) summed
JOIN (@changed@) changed ON changed.target_id = summed.target_id AND changed.spans @> summed."time"
