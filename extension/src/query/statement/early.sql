-- The targets whose first rows show that they report times. Nearly always these are all targets that do.
SELECT DISTINCT part.target_id
FROM (SELECT part.target_id, part.@probe@ FROM part LIMIT @rows@) part
WHERE part.@probe@ IS NOT NULL
