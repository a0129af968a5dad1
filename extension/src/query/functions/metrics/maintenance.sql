-- When maintenance last came to its end and whether all was well, and how far each rollup stays behind.
SELECT extract(epoch FROM m.completed)::double precision AS completed, m.problem IS NOT NULL AS problem,
    ARRAY(SELECT l.level FROM jobstats.rollups l WHERE l.refreshed > 'epoch' ORDER BY l.width) AS levels,
    ARRAY(SELECT extract(epoch FROM now() - l.refreshed)::double precision FROM jobstats.rollups l
        WHERE l.refreshed > 'epoch' ORDER BY l.width) AS lags
FROM jobstats.maintenance_state m
