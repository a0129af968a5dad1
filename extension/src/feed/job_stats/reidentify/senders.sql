-- The clusters that have sent these entries, whose keys lie in [$2, $3], according to rollups and increments. Increments that are older
-- than the last rollup are in it.
SELECT a.entry_id, array_agg(DISTINCT t.cluster ORDER BY t.cluster)
FROM (
    SELECT r.entry_id, r.target_id FROM jobstats.rollup_1d r WHERE r.entry_id = ANY ($1) AND r.entry_id BETWEEN $2 AND $3
    UNION
    SELECT r.entry_id, r.target_id FROM jobstats.rollup_1h r WHERE r.entry_id = ANY ($1) AND r.entry_id BETWEEN $2 AND $3
    UNION
    SELECT r.entry_id, r.target_id FROM jobstats.rollup_10m r WHERE r.entry_id = ANY ($1) AND r.entry_id BETWEEN $2 AND $3
    UNION
    SELECT i.entry_id, i.target_id FROM jobstats.increments i
    WHERE i.entry_id = ANY ($1) AND i."time" > (
        SELECT least(l.refreshed, (SELECT min(d.span_from) FROM jobstats.dirty d)) FROM jobstats.rollups l WHERE l.level = '10m')
) a
JOIN jobstats.targets t ON t.target_id = a.target_id
GROUP BY a.entry_id
