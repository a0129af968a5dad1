-- The targets that were observed in the window, which is a single step, in order of the dimensions.
WITH @observed@
SELECT unit.target_id@dimensions@, observed.micros[1] AS observed
FROM unit
JOIN observed ON observed.target_id = unit.target_id
WHERE observed.micros[1] IS NOT NULL
ORDER BY unit.unit_group
