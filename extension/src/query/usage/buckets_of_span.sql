-- A single span is a part of the condition itself, so that the planner knows how many rows lie in it.
SELECT * FROM jobstats.@relation@ usage WHERE usage.bucket > (@lower@)[1] AND usage.bucket <= (@upper@)[1]@condition@
