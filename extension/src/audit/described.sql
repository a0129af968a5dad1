-- Shows rows of the same entry and span side by side.
SELECT p.observed, coalesce(e.name, 'entry_id ' || p.entry_id) AS entry, @stored_text@ AS stored,
    @computed_text@ AS computed
FROM (
    SELECT observed, entry_id, since, "time", number, s.stored, s.row AS stored_row, c.computed, c.row AS computed_row
    FROM (
        SELECT d.observed, d.entry_id, d.since, d."time", to_jsonb(d) AS stored, to_json(d) AS row,
            row_number() OVER (PARTITION BY d.observed, d.entry_id, d.since, d."time" ORDER BY to_jsonb(d)) AS number
        FROM (@extra@) d
    ) s
    FULL JOIN (
        SELECT d.observed, d.entry_id, d.since, d."time", to_jsonb(d) AS computed, to_json(d) AS row,
            row_number() OVER (PARTITION BY d.observed, d.entry_id, d.since, d."time" ORDER BY to_jsonb(d)) AS number
        FROM (@missing@) d
    ) c USING (observed, entry_id, since, "time", number)
) p
LEFT JOIN jobstats.entries e ON e.entry_id = p.entry_id
ORDER BY p.observed, e.name COLLATE "C", p.entry_id, p."time", p.since, p.number
