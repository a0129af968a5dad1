-- Whether any calls on the selected targets came without times.
SELECT EXISTS (
    SELECT FROM (
        @usage@
    ) usage
    JOIN jobstats.targets target ON target.target_id = usage.target_id
    WHERE usage.value_0 IS NOT NULL AND usage.value_1 IS NULL@conditions@
)
