UPDATE jobstats.rollups level
SET retention = greatest(level.retention, least(
    (SELECT now() - min(bucket) + interval '1 day' FROM jobstats.@relation@),
    (SELECT min(coarser.retention) FROM jobstats.rollups coarser WHERE coarser.width > level.width)))
WHERE level.level = $1 AND level.retention IS NOT NULL
