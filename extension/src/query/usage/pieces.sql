-- The rows that reach into pieces, each of which lies inside of one step. OFFSET 0 keeps the search of each piece by itself.
SELECT usage.*, piece.step, piece.lower, piece.upper, usage.since >= piece.lower AND usage."time" <= piece.upper AS inside
FROM unnest(@steps@, @lower@, @upper@, @reach@) piece (step, lower, upper, reach)
CROSS JOIN LATERAL (
    SELECT *
    FROM jobstats.@increments@ usage
    WHERE usage."time" > piece.lower AND usage."time" <= piece.reach AND usage.since < piece.upper@condition@
        AND usage."time" > @since@ AND usage."time" <= @until_reach@
    OFFSET 0
) usage
