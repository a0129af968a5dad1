-- Increments that are stored and were not computed, and the other way round; side by side where they are of the same
-- entry and span.
WITH computed AS MATERIALIZED (
    @computed@
), stored AS MATERIALIZED (
    SELECT @names@ FROM jobstats.increments
    WHERE target_id = $1 AND observed > $2 AND observed <= $3 AND "time" > $4 AND "time" <= $3
), extra AS (
    SELECT d.observed, d.entry_id, d.since, d."time", to_json(d) AS row
    FROM (SELECT * FROM stored EXCEPT ALL SELECT * FROM computed) d
), missing AS (
    SELECT d.observed, d.entry_id, d.since, d."time", to_json(d) AS row
    FROM (SELECT * FROM computed EXCEPT ALL SELECT * FROM stored) d
), paired AS (
    SELECT observed, entry_id, since, "time", number, s.row AS stored, c.row AS computed
    FROM (
        SELECT *, row_number() OVER (PARTITION BY observed, entry_id, since, "time" ORDER BY row::text) AS number FROM extra
    ) s
    FULL JOIN (
        SELECT *, row_number() OVER (PARTITION BY observed, entry_id, since, "time" ORDER BY row::text) AS number FROM missing
    ) c USING (observed, entry_id, since, "time", number)
)
SELECT p.observed, coalesce(e.name, 'entry_id ' || p.entry_id), @stored_text@, @computed_text@
FROM paired p
LEFT JOIN jobstats.entries e ON e.entry_id = p.entry_id
ORDER BY p.observed, e.name COLLATE "C", p.entry_id, p."time", p.since, p.number
