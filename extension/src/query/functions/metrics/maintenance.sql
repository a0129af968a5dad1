-- When maintenance last came to its end and whether all was well, and how far each rollup stays behind.
SELECT extract(epoch FROM m.completed)::double precision, m.problem IS NOT NULL,
    ARRAY(SELECT l.level FROM jobstats.rollups l WHERE l.refreshed > 'epoch' ORDER BY l.width),
    ARRAY(SELECT extract(epoch FROM now() - l.refreshed)::double precision FROM jobstats.rollups l
        WHERE l.refreshed > 'epoch' ORDER BY l.width)
FROM jobstats.maintenance_state m
