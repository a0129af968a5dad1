-- Whether any target reports times, and whether the targets in the first rows do, according to these rows.
SELECT NULL::integer AS target_id,
    CASE
        WHEN EXISTS (SELECT FROM early WHERE early.timed) OR NOT EXISTS (SELECT FROM early) THEN true
        ELSE EXISTS (SELECT FROM part WHERE part.@probe@ IS NOT NULL)
    END AS timed
UNION ALL
SELECT early.target_id, early.timed FROM early
