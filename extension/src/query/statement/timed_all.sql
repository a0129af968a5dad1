-- Whether any target reports times.
SELECT unit.target_id,
    EXISTS (SELECT FROM part WHERE part.@probe@ IS NOT NULL) OR NOT EXISTS (SELECT FROM part) AS timed
FROM unit
