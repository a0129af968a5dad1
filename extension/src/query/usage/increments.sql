SELECT *
FROM jobstats.@increments@ usage
WHERE usage."time" > span.lower AND usage."time" <= span.reach AND usage.since < span.upper@condition@
    AND usage."time" > @since@ AND usage."time" <= @until_reach@
