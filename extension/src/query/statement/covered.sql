-- The part of a window of one step for which the targets in scope were observed, of those that were not retired by its end. A target that was
-- on several servers has a row for each.
, (SELECT coalesce(sum(one.observed) / nullif(count(*), 0), 0)::double precision / @micros@ FROM (
        SELECT unit.target_id, max(observed.micros[1]) AS observed
        FROM unit
        JOIN observed ON @same_unit@
        WHERE unit.retired IS NULL OR unit.retired >= @until@
        GROUP BY unit.target_id) one) AS covered
