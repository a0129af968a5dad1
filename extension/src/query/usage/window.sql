-- The rows of increments that reach into the window. An instant on an edge belongs to the step that ends there; step 0 is
-- before the window.
SELECT usage.*, true AS inside,
    width_bucket(usage.since, @edges@) AS first_step,
    width_bucket(usage."time" - interval '1 microsecond', @edges@) AS last_step
FROM jobstats.@increments@ usage
WHERE usage."time" > @since@ AND usage."time" <= @until_reach@ AND usage.since < @until@@condition@
