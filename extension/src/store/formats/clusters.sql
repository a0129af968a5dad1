-- The clusters of the store, at most as many as an entry notes.
SELECT ARRAY(SELECT DISTINCT t.cluster FROM jobstats.targets t ORDER BY t.cluster LIMIT $1)
