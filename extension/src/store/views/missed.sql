-- For each target of @observed@ (target_id, elapsed): the number of gaps between its observations there, and the number of readings
-- that are missing in these gaps; NULL for a target that is not read at regular times. Needs `pace`. A gap counts where it ends.
-- The intervals that show how often a target is read are those in @observed@, or its last ten if these are more.
SELECT w.target_id, m.gaps, CASE WHEN cardinality(s.intervals) > 2 AND r.is_regular THEN m.readings END AS missed
FROM (
    SELECT o.target_id, coalesce(array_agg(o.elapsed) FILTER (WHERE o.elapsed IS NOT NULL), '{}') AS intervals
    FROM @observed@ o GROUP BY o.target_id
) w
JOIN pace p ON p.target_id = w.target_id
CROSS JOIN LATERAL (
    SELECT CASE WHEN cardinality(w.intervals) < cardinality(p.intervals) THEN p.intervals ELSE w.intervals END AS intervals
) s
CROSS JOIN LATERAL (
    SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY e.elapsed) AS elapsed FROM unnest(s.intervals) AS e (elapsed)
) usual
CROSS JOIN LATERAL (
    SELECT 2 * count(*) FILTER (WHERE e.elapsed BETWEEN 0.8 * usual.elapsed AND 1.2 * usual.elapsed) >= count(*) AS is_regular
    FROM unnest(s.intervals) AS e (elapsed)
) r
CROSS JOIN LATERAL (
    SELECT count(*) AS gaps,
        coalesce(sum(round(extract(epoch FROM e.elapsed) / extract(epoch FROM usual.elapsed)) - 1), 0)::bigint AS readings
    FROM unnest(w.intervals) AS e (elapsed)
    WHERE e.elapsed >= 1.5 * usual.elapsed
) m
