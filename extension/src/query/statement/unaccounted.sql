-- The work of whole targets beside that of their entries, by step, group and operation. What entries of one target did beyond its own
-- counters is no work of another one: both are summed target by target. Nothing is told of a group of which a target's own counters
-- were read for much less time than its entries were.
WITH @observed@,
part AS MATERIALIZED (
    SELECT usage.step, usage.target_id@sums@
    FROM (
        @usage@
    ) usage
    @of_targets@
    GROUP BY usage.step, usage.target_id
),
whole AS MATERIALIZED (
    SELECT usage.step, usage.target_id@sums@, sum(usage.value_@read@) AS read, sum(usage.value_@times@) IS NOT NULL AS has_times
    FROM (
        @whole@
    ) usage
    @of_targets@
    GROUP BY usage.step, usage.target_id
),
cell AS (
    SELECT step.step, unit.target_kind@of_unit@, measure.*, whole.read,
        extract(epoch FROM least(@edges@[step.step + 1], unit.retired) - @edges@[step.step]) AS width,
        coalesce(whole.read, 0) >= @share_read@ * observed.micros[step.step] AND observed.micros[step.step] > 0 AS is_known
    FROM unit
    CROSS JOIN generate_series(1, @steps@) step (step)
    JOIN observed ON observed.target_id = unit.target_id
    LEFT JOIN part ON part.target_id = unit.target_id AND part.step = step.step
    LEFT JOIN whole ON whole.target_id = unit.target_id AND whole.step = step.step AND whole.read > 0
    CROSS JOIN LATERAL (
        VALUES @measures@
    ) measure (number, operation, total, accounted)
    WHERE unit.retired IS NULL OR unit.retired > @edges@[step.step]
)
SELECT @edges@[answer.step] AS "time",
    extract(epoch FROM @edges@[answer.step + 1] - @edges@[answer.step])::double precision AS seconds@of_answer@, answer.operation,
    trim_scale(answer.total) AS total, trim_scale(answer.accounted) AS accounted, trim_scale(answer.unaccounted) AS untracked,
    trim_scale(answer.beyond) AS beyond, (answer.unaccounted / nullif(answer.total, 0))::double precision AS share,
    (answer.read / (answer.width * 1000000))::double precision AS coverage, answer.total::double precision AS amount,
    answer.unaccounted::double precision AS amount_in_no_entry,
    (answer.unaccounted / extract(epoch FROM @edges@[answer.step + 1] - @edges@[answer.step]))::double precision AS rate
FROM (
    SELECT cell.step@of_cell@, cell.number, cell.operation, sum(cell.total) AS total, sum(cell.accounted) AS accounted,
        CASE WHEN bool_and(cell.is_known AND cell.total IS NOT NULL) THEN sum(greatest(cell.total - coalesce(cell.accounted, 0), 0)) END AS unaccounted,
        CASE WHEN bool_and(cell.is_known AND cell.total IS NOT NULL) THEN sum(greatest(coalesce(cell.accounted, 0) - cell.total, 0)) END AS beyond,
        coalesce(sum(cell.read), 0) AS read, sum(cell.width) AS width
    FROM cell
    GROUP BY cell.step@of_cell@, cell.number, cell.operation
) answer
WHERE answer.total <> 0 OR answer.accounted <> 0
ORDER BY answer.step@of_answer@, answer.number
LIMIT @limit@
