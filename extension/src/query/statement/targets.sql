-- The targets in scope with the microseconds for which each was observed in each step, in order of the dimensions.
WITH @observed@
SELECT unit.target_id@dimensions@, observed.micros AS observed
FROM unit
JOIN observed ON observed.target_id = unit.target_id
ORDER BY unit.unit_group
