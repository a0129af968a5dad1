-- The parts of observations in spans that are still read from a source.
(
    SELECT @key@, greatest(observation.since, kept.lower) AS since, least(observation."time", kept.upper) AS "time"
    FROM observation
    JOIN unnest(@lower@, @upper@) kept (lower, upper)
        ON observation.since < kept.upper AND observation."time" > kept.lower
)
