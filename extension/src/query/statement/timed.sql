-- Whether each target reports times, for any entry. A target without usage is taken to do as the others.
WITH known AS MATERIALIZED (
    SELECT early.target_id, true AS timed FROM early WHERE early.timed
    UNION ALL
    SELECT part.target_id, bool_or(part.@probe@ IS NOT NULL) AS timed
    FROM part
    WHERE EXISTS (SELECT FROM unit WHERE unit.target_id NOT IN (SELECT early.target_id FROM early WHERE early.timed))
        AND part.target_id NOT IN (SELECT early.target_id FROM early WHERE early.timed)
    GROUP BY part.target_id
)@others@
SELECT target.target_id, coalesce(target.timed, bool_or(target.timed) OVER (), true) AS timed
FROM (
    SELECT unit.target_id, bool_or(shown.timed) AS timed
    FROM unit
    LEFT JOIN (SELECT * FROM known@all@) shown ON shown.target_id = unit.target_id
    GROUP BY unit.target_id
) target
