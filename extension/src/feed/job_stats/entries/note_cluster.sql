-- Notes that a cluster has sent these entries, and queues entries of other clusters for identification. Entries with unknown
-- clusters are left to a change of formats that is under way.
WITH unknown AS MATERIALIZED (
    SELECT e.entry_id, e.clusters IS NOT NULL AS is_identified
    FROM jobstats.entries e
    WHERE e.entry_id = ANY ($1) AND NOT $2 = ANY (coalesce(e.clusters, '{}')) AND coalesce(cardinality(e.clusters), 0) < $3
    ORDER BY e.entry_id
    FOR NO KEY UPDATE
), noted AS (
    UPDATE jobstats.entries e
    SET clusters = ARRAY(SELECT DISTINCT c.name FROM unnest(e.clusters || $2) AS c (name) ORDER BY c.name)
    FROM unknown u
    WHERE e.entry_id = u.entry_id
)
INSERT INTO jobstats.to_identify (entry_id) SELECT u.entry_id FROM unknown u WHERE u.is_identified
