-- The time up to which every target in scope has been observed, except the silent ones.
SELECT min(pace.last_observation)
FROM (
    @pace@
) pace
JOIN jobstats.targets target ON target.target_id = pace.target_id
WHERE NOT pace.silent@conditions@
