-- Three searches: for rows inside the window, for rows that cross its start, and for further rows that cross its end.
@whole@
FROM @rows@
UNION ALL
@part@
FROM jobstats.@increments@ usage
WHERE usage."time" > @since@ AND usage."time" <= @since_reach@ AND usage.since < @since@@condition@
UNION ALL
@part@
FROM jobstats.@increments@ usage
WHERE usage."time" > @until@ AND usage."time" <= @until_reach@ AND usage.since >= @since@ AND usage.since < @until@@condition@
