,
-- Where the selected entries do not show times, the rows of any entry do, nearly always the first ones.
beginning AS MATERIALIZED (
    SELECT usage.target_id, true AS timed
    FROM (
        SELECT usage.target_id, usage.value_0
        FROM (
            @beginning@
        ) usage
        LIMIT @rows@
    ) usage
    WHERE usage.value_0 IS NOT NULL
        AND EXISTS (SELECT FROM unit WHERE unit.target_id NOT IN (SELECT known.target_id FROM known WHERE known.timed))
    GROUP BY usage.target_id
),
showing AS MATERIALIZED (
    SELECT known.target_id FROM known WHERE known.timed
    UNION ALL
    SELECT beginning.target_id FROM beginning
),
other AS MATERIALIZED (
    SELECT usage.target_id, bool_or(usage.value_0 IS NOT NULL) AS timed
    FROM (
        @usage@
    ) usage
    WHERE usage.target_id NOT IN (SELECT showing.target_id FROM showing)
        AND EXISTS (SELECT FROM unit WHERE unit.target_id NOT IN (SELECT showing.target_id FROM showing))
    GROUP BY usage.target_id
)
