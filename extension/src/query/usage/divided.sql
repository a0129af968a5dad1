-- Rows inside of one step count as they are; others are divided.
@whole@
FROM (
    @rows@
) usage
WHERE usage.inside AND usage.first_step = usage.last_step
UNION ALL
@part@
FROM (
    @rows@
) usage
CROSS JOIN LATERAL generate_series(greatest(usage.first_step, 1), least(usage.last_step, @steps@)) piece (step)
WHERE NOT (usage.inside AND usage.first_step = usage.last_step)
