-- The microseconds for which each unit was observed in each step, if its usage is still known: an array, or NULL if
-- there is no such time in the window.
SELECT @key@, jobstats_internal.observed(observation.since, observation."time", @edges@) AS micros
FROM unit
LEFT JOIN @observation@ observation
    ON @same_unit@ AND observation.since < @until@ AND observation."time" > @since@
GROUP BY @key@
