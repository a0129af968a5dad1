-- The targets in the first rows, and whether these rows show that they report times. Nearly always they do for all that do.
SELECT part.target_id, bool_or(part.@probe@ IS NOT NULL) AS timed
FROM (SELECT part.target_id, part.@probe@ FROM part LIMIT @rows@) part
GROUP BY part.target_id
