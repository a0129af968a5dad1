-- Rows of usage in the parts of a window that a relation answers for.
SELECT usage.target_id@columns@
FROM jobstats.@relation@ usage
WHERE (@spans@)@of@
