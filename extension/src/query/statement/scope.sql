-- Every unit in every step, with its observed time and the value of a sum without usage: 0 if that is known, else NULL. A
-- retired target has no part in steps after its last observation; `idle` are the seconds of a step that are after it.
SELECT @key@, unit.target_kind, unit.target_name, unit.target_kind = 'MDT' AS mdt, unit.unit_group, step.step@dimensions@,
    observed.micros[step.step] AS observed,
    CASE WHEN unit.retired < @edges@[step.step + 1] THEN extract(epoch FROM @edges@[step.step + 1] - unit.retired) END AS idle,
    CASE WHEN observed.micros[step.step] > 0 THEN 0::bigint END AS none,
    CASE WHEN observed.micros[step.step] > 0 AND timed.timed THEN 0::bigint END AS none_of_time
FROM unit
CROSS JOIN generate_series(1, @steps@) step (step)
JOIN observed ON @same_unit@
LEFT JOIN timed ON timed.target_id = unit.target_id
WHERE unit.retired IS NULL OR unit.retired > @edges@[step.step]
