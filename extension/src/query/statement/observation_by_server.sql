-- The observations of the day before the window and of the window, and the observation that reaches beyond its end.
SELECT observation.target_id, observation.server, observation.since, observation."time"
FROM jobstats.observations observation
JOIN jobstats.targets target ON target.target_id = observation.target_id
WHERE observation."time" > @day_before@ AND observation."time" <= @until@@conditions@
UNION ALL
SELECT observation.target_id, observation.server, observation.since, observation."time"
FROM jobstats.targets target
@beyond@
JOIN jobstats.observations observation ON observation.target_id = target.target_id
    AND observation."time" = coalesce(soon."time", later."time") AND observation."time" > @until@
WHERE observation.since < @until@@conditions@
